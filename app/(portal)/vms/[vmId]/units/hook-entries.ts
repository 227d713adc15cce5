import type { inferRouterOutputs } from '@trpc/server';
import { dueLines } from '#app/(portal)/models/[model]/units/due-lines.ts';
import type { ShownRun } from '#app/(portal)/models/[model]/units/unit-data.ts';
import type { AppRouter } from '#server/trpc/root.ts';
import type { QueueDetails } from '../vm-data.ts';

export type VmUnits = inferRouterOutputs<AppRouter>['units']['ofVm'];
export type ShownVmUnit = VmUnits['items'][number];

/** A hook in the queue of a machine. */
export interface HookEntry {
  model: string;
  unit: string;
  hook: string;
  remoteUnit: string | null;
  /** What the hook waits for; null if it runs in its turn. */
  waits: { kind: 'retry'; until: string | null } | { kind: 'after'; hook: string } | null;
  /** When the hook began; null if it does not run. */
  since: string | null;
  limitSeconds: number | null;
  turn: number | null;
}

/** The hooks of a machine’s units: the one that runs, and those that are due. */
export interface HookQueue {
  now: HookEntry | null;
  next: readonly HookEntry[];
  waiting: readonly HookEntry[];
}

/** Returns the hooks in the order in which the machine runs them. Hooks that other machines caused come last. */
export function hookQueue(units: readonly ShownVmUnit[]): HookQueue {
  const entries = units.flatMap(entriesOf);
  const order = ({ turn }: HookEntry) => turn ?? Number.POSITIVE_INFINITY;
  const sorted = entries.toSorted((a, b) => order(a) - order(b));
  const running = sorted.find(({ since }) => since !== null) ?? null;
  return {
    now: running,
    next: sorted.filter((entry) => entry !== running && entry.waits === null),
    waiting: sorted.filter((entry) => entry !== running && entry.waits !== null),
  };
}

function entriesOf({ model, unit, turn, running, due, failing }: ShownVmUnit): HookEntry[] {
  const run = running === null ? undefined : ({ ...running, id: running.run } as unknown as ShownRun);
  const lines = dueLines(due, failing, run);
  const entries = lines
    .filter(({ due: { hasFile } }) => hasFile)
    .map(({ due: { hook, remoteUnit, relation }, state }): HookEntry => {
      const before = state.kind === 'after' ? lines[state.number - 1]?.due.hook : undefined;
      const isRunning = state.kind === 'running' && running !== null;
      return {
        ...{ model, unit, hook, remoteUnit, turn: relation === null ? turn : null },
        since: isRunning ? running.begunAt : null,
        limitSeconds: isRunning ? running.timeoutSeconds : null,
        waits:
          state.kind === 'retry'
            ? { kind: 'retry', until: state.failure.nextAttemptBefore }
            : before === undefined
              ? null
              : { kind: 'after', hook: before },
      };
    });
  const isListed = entries.some(({ since }) => since !== null);
  if (running === null || isListed) return entries;
  const { hook, remoteUnit, begunAt: since, timeoutSeconds: limitSeconds } = running;
  return [{ model, unit, hook, remoteUnit, since, limitSeconds, turn, waits: null }, ...entries];
}

/** A row of a queue: commands or an execution, or a hook. */
export type MixedEntry<Line> = { kind: 'line'; line: Line } | { kind: 'hook'; hook: HookEntry };

/** Puts hooks and other work into one order by turn. Hooks without a turn come after all that have one. */
export function mixed<Line extends { turn: number | null }>(
  lines: readonly Line[],
  hooks: readonly HookEntry[],
): MixedEntry<Line>[] {
  const entries: MixedEntry<Line>[] = [
    ...lines.map((line) => ({ kind: 'line' as const, line })),
    ...hooks.map((hook) => ({ kind: 'hook' as const, hook })),
  ];
  // The order of the lines is the agent's, also among lines of the same turn.
  let last = 0;
  const placed = entries.map((entry) => {
    if (entry.kind === 'hook') return { entry, place: entry.hook.turn ?? Number.POSITIVE_INFINITY };
    last = Math.max(last, entry.line.turn ?? last);
    return { entry, place: last };
  });
  return placed.toSorted((a, b) => a.place - b.place).map(({ entry }) => entry);
}

/** Whether a machine has nothing to do at all. */
export const isIdle = ({ now, next, waiting }: QueueDetails, hooks: HookQueue): boolean =>
  now === null && hooks.now === null && next.length + waiting.length + hooks.next.length + hooks.waiting.length === 0;
