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

/** Whether a hook that fails can run again: if it is due, or if the hooks that are due are not known. */
export const canRunAgain = (lines: readonly DueLine[] | undefined, failure: ShownFailure): boolean =>
  lines === undefined || lines.some(({ state }) => state.kind === 'retry' && state.failure === failure);

/** Returns the run that is the next attempt of a hook that fails; undefined if the hook does not run now. */
export function runningAttempt(
  lines: readonly DueLine[],
  { hook, remoteUnit, relation }: Pick<ShownFailure, 'hook' | 'remoteUnit' | 'relation'>,
): ShownRun | undefined {
  const line = lines.find(({ state }) => state.kind === 'running');
  if (line?.state.kind !== 'running') return undefined;
  const { due } = line;
  const isSame = due.hook === hook && due.remoteUnit === remoteUnit && due.relation === (relation?.id ?? null);
  return isSame ? line.state.run : undefined;
}
