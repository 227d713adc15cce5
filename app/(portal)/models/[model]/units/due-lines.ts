import { type DueState, dueStates } from '#server/domain/service-rules/due-states.ts';
import type { ShownDue, ShownFailure, ShownRun } from './unit-data.ts';

/** What a hook that is due waits for. */
export type DueLineState = Exclude<DueState<ShownFailure>, { kind: 'running' }> | { kind: 'running'; run: ShownRun };

export interface DueLine {
  due: ShownDue;
  state: DueLineState;
}

/** Returns the hooks that are due, in the order in which they run, with what each of them waits for. */
export function dueLines(
  due: readonly ShownDue[],
  failing: readonly ShownFailure[],
  running: ShownRun | undefined,
): DueLine[] {
  return dueStates(due, failing, running).flatMap((state, index) => {
    const one = due[index];
    if (one === undefined) return [];
    if (state.kind !== 'running') return { due: one, state };
    return running === undefined ? [] : { due: one, state: { kind: 'running' as const, run: running } };
  });
}
