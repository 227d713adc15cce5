import type { ShownDue, ShownFailure, ShownRun } from './unit-data.ts';

/** What a hook that is due waits for. */
export type DueState =
  | { kind: 'running'; run: ShownRun }
  | { kind: 'retry'; failure: ShownFailure }
  /** Runs after the hook with this number in the list. */
  | { kind: 'after'; number: number }
  | { kind: 'turn' };

export interface DueLine {
  due: ShownDue;
  state: DueState;
}

/** Returns the hooks that are due, in the order in which they run, with what each of them waits for. */
export function dueLines(
  due: readonly ShownDue[],
  failing: readonly ShownFailure[],
  running: ShownRun | undefined,
): DueLine[] {
  const failureOf = (one: ShownDue) => failing.find((failure) => isSlotOf(failure, one) && isSameHook(failure, one));
  return due.map((one, index) => {
    if (running !== undefined && isSameHook(running, one))
      return { due: one, state: { kind: 'running', run: running } };
    const failure = failureOf(one);
    if (failure !== undefined) return { due: one, state: { kind: 'retry', failure } };
    const before = due.slice(0, index).findLastIndex((other) => mustRunBefore(other, one));
    return { due: one, state: before < 0 ? { kind: 'turn' } : { kind: 'after', number: before + 1 } };
  });
}

const isSlotOf = ({ relation }: ShownFailure, due: ShownDue): boolean => (relation?.id ?? null) === due.relation;

const isSameHook = (
  one: Pick<ShownDue, 'hook' | 'remoteUnit'>,
  { hook, remoteUnit }: Pick<ShownDue, 'hook' | 'remoteUnit'>,
): boolean => one.hook === hook && one.remoteUnit === remoteUnit;

/** While a hook of the unit is due, no other hook runs; hooks of a relation run one after the other. */
const mustRunBefore = (other: ShownDue, one: ShownDue): boolean =>
  other.relation === null || other.relation === one.relation;
