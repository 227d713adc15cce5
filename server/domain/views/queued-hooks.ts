import { type DueSlot, dueStates, type FailedSlot } from '#server/domain/service-rules/due-states.ts';
import type { QueueEntry, QueueFacts, VmQueue } from '#server/domain/work/index.ts';

/** A unit on a VM, with the hook that runs and the hooks that are due, in the order in which its agent runs them. */
export interface QueuedUnit {
  model: string;
  unit: string;
  version: string;
  turn: number;
  running: { run: string; hook: string; remoteUnit: string | null; begunAt: string; timeoutSeconds: number } | null;
  due: readonly (DueSlot & { hasFile: boolean; waitsFor: 'failing' | 'release' | null })[];
  failing: readonly (FailedSlot & { nextAttemptBefore: string | null })[];
}

/**
 * Adds the hooks of a VM’s units to its queue, in the order in which the machine runs them. Hooks that other machines
 * caused have no turn and come last. Hooks without a file count as done. A pure function.
 */
export function withHooks(queue: VmQueue, units: readonly QueuedUnit[], stopped: QueueFacts['stopped']): VmQueue {
  const entries = units.flatMap((unit) => entriesOf(unit, stopped));
  const running = entries.find(({ since }) => since !== null) ?? null;
  const rest = entries.filter((entry) => entry !== running).sort((a, b) => orderOf(a) - orderOf(b));
  const { now, before } = currentOf(queue.now, running);
  return {
    now,
    next: [
      ...before,
      ...byTurn(
        queue.next,
        rest.filter(({ reason }) => reason === null),
      ),
    ],
    waiting: byTurn(
      queue.waiting,
      rest.filter(({ reason }) => reason !== null),
    ),
  };
}

/**
 * Returns what the machine does now, because it does one thing at a time. Of two entries that seem to be running, the
 * one that began first has ended without a report. An execution that has not begun comes next.
 */
function currentOf(now: QueueEntry | null, hook: QueueEntry | null): { now: QueueEntry | null; before: QueueEntry[] } {
  if (now === null || hook === null) return { now: now ?? hook, before: [] };
  if (now.since === null) return { now: hook, before: [now] };
  return { now: now.since > (hook.since ?? '') ? now : hook, before: [] };
}

const orderOf = ({ turn }: QueueEntry): number => turn ?? Number.POSITIVE_INFINITY;

/** Puts hooks between other entries by their turn. The order of the other entries is the agent’s, and stays. */
function byTurn(others: readonly QueueEntry[], hooks: readonly QueueEntry[]): QueueEntry[] {
  let last = 0;
  const placed = others.map((entry) => {
    last = Math.max(last, entry.turn ?? last);
    return { entry, place: last };
  });
  return [...placed, ...hooks.map((entry) => ({ entry, place: orderOf(entry) }))]
    .sort((a, b) => a.place - b.place)
    .map(({ entry }) => entry);
}

function entriesOf(unit: QueuedUnit, stopped: QueueFacts['stopped']): QueueEntry[] {
  const { due, failing, running } = unit;
  const states = dueStates(due, failing, running ?? undefined);
  const entries = due.flatMap((one, index): QueueEntry[] => {
    const state = states[index];
    if (!one.hasFile || state === undefined || state.kind === 'running') return [];
    const entry = entryOf(unit, one, one.relation === null ? unit.turn : null);
    const waits = (code: NonNullable<QueueEntry['reason']>['code'], params = {}) => [
      { ...entry, reason: { code, params } },
    ];
    if (stopped !== null) return waits(stopped.code);
    if (one.waitsFor === 'release') return waits('release');
    if (state.kind === 'after') return waits('hook_after', { hook: due[state.number - 1]?.hook ?? '' });
    if (state.kind === 'turn') return [entry];
    const { nextAttemptBefore } = state.failure;
    return waits('hook_failed').map((failed) => ({
      ...failed,
      hook: entry.hook && { ...entry.hook, nextAttemptBefore },
    }));
  });
  return running === null ? entries : [runningEntry(unit, running), ...entries];
}

function runningEntry(unit: QueuedUnit, running: NonNullable<QueuedUnit['running']>): QueueEntry {
  const { run: id, begunAt: since, timeoutSeconds: limitSeconds } = running;
  const due = unit.due.find(({ hook, remoteUnit }) => hook === running.hook && remoteUnit === running.remoteUnit);
  const isOfRelation = due === undefined ? running.remoteUnit !== null : due.relation !== null;
  return { ...entryOf(unit, running, isOfRelation ? null : unit.turn), id, since, limitSeconds };
}

function entryOf(
  { model, unit, version }: QueuedUnit,
  { hook, remoteUnit }: Pick<DueSlot, 'hook' | 'remoteUnit'>,
  turn: number | null,
): QueueEntry {
  return {
    ...{ kind: 'hook', id: null, name: unit, handler: null, step: null, version, call: null, turn },
    hook: { model, hook, remoteUnit, nextAttemptBefore: null },
    ...{ askedBy: null, askedAt: null, since: null, validUntil: null, limitSeconds: null, reason: null },
  };
}
