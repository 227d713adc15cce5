import { type ExecutionState, waitingStates } from '#protocol/executions/index.ts';

/** A period in which a machine had an execution, or in which executions waited and the machine had none. */
export interface ExecutionSpan {
  from: string;
  /** Null if the period has not ended. */
  to: string | null;
  /** The state of the execution, or of the first one that waited. */
  state: ExecutionState;
  executionId: string;
  name: string;
  version: string;
  /**
   * Number of merged executions. If it is above 1, the state, id, name and version are those of the execution with the
   * worst state.
   */
  count: number;
}

/** The times of an execution. `begunAt` is when its machine received it, and null if no machine did. */
export interface ExecutionTimes {
  id: string;
  name: string;
  version: string;
  state: ExecutionState;
  queuedAt: Date;
  begunAt: Date | null;
  concludedAt: Date | null;
}

interface Period {
  from: number;
  /** `Infinity` if the period has not ended. */
  to: number;
}
type Bar = Period & { of: ExecutionTimes; state: ExecutionState; count: number };

/**
 * Returns the spans of one lane of the timeline, oldest first, without overlaps. To limit the number of spans,
 * executions that together are shorter than `slotMs` are merged, and waits shorter than `slotMs` are omitted.
 */
export function executionSpansOf(executions: readonly ExecutionTimes[], slotMs: number): ExecutionSpan[] {
  const bars = executions.map(barsOf);
  const runs = mergeBars(bars.flatMap(({ run }) => run).sort(byStart), slotMs);
  const waits: Bar[] = [];
  for (const bar of bars.flatMap(({ wait }) => wait).sort(byStart)) {
    const free = freeParts(bar, [...runs, ...waits]).filter(({ from, to }) => to - from >= slotMs);
    waits.push(...free.map((part) => ({ ...bar, ...part })));
  }
  return [...runs, ...waits].sort(byStart).map(({ from, to, of, state, count }) => ({
    from: new Date(from).toISOString(),
    to: to === Infinity ? null : new Date(to).toISOString(),
    ...{ state, executionId: of.id, name: of.name, version: of.version, count },
  }));
}

const byStart = (a: Bar, b: Bar): number => a.from - b.from;

const endOf = (time: Date | null): number => time?.getTime() ?? Infinity;

/** Returns the period in which a machine had the execution, and the period in which it waited. */
function barsOf(of: ExecutionTimes): { run: Bar[]; wait: Bar[] } {
  const { queuedAt, begunAt, concludedAt, state } = of;
  const isWaiting = (waitingStates as readonly ExecutionState[]).includes(state);
  const waited: Bar = {
    ...{ of, count: 1, from: queuedAt.getTime(), to: endOf(begunAt ?? concludedAt) },
    state: isWaiting ? state : 'queued',
  };
  if (begunAt === null) return { run: [], wait: [waited] };
  return { run: [{ of, state, count: 1, from: begunAt.getTime(), to: endOf(concludedAt) }], wait: [waited] };
}

/** From the worst state to the best. */
const worstFirst: readonly ExecutionState[] = ['failed', 'timed-out', 'lost', 'expired', 'cancelled', 'succeeded'];

function mergeBars(bars: readonly Bar[], slotMs: number): Bar[] {
  const merged: Bar[] = [];
  for (const bar of bars) {
    const last = merged.at(-1);
    if (last === undefined || bar.to - last.from >= slotMs) {
      merged.push({ ...bar });
      continue;
    }
    const { of, state } = worstFirst.indexOf(bar.state) < worstFirst.indexOf(last.state) ? bar : last;
    Object.assign(last, { of, state, to: Math.max(last.to, bar.to), count: last.count + bar.count });
  }
  return merged;
}

/** Returns the parts of a period that no other period covers. */
function freeParts(period: Period, others: readonly Period[]): Period[] {
  return others.reduce<Period[]>(
    (parts, other) =>
      parts.flatMap(({ from, to }) =>
        [
          { from, to: Math.min(to, other.from) },
          { from: Math.max(from, other.to), to },
        ].filter((part) => part.from < part.to),
      ),
    [{ from: period.from, to: period.to }],
  );
}
