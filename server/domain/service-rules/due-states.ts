/** A hook that is due on a unit. `relation` is the id of its relation; null for a hook of the unit. */
export interface DueSlot {
  hook: string;
  relation: number | null;
  remoteUnit: string | null;
}

/** The last failure of a hook. */
export interface FailedSlot {
  hook: string;
  relation: { id: number } | null;
  remoteUnit: string | null;
}

/** What a hook that is due waits for. */
export type DueState<Failure> =
  | { kind: 'running' }
  | { kind: 'retry'; failure: Failure }
  /** Runs after the hook with this number in the list. */
  | { kind: 'after'; number: number }
  | { kind: 'turn' };

type Named = Pick<DueSlot, 'hook' | 'remoteUnit'>;

/** Returns what each of a unit’s hooks that are due waits for. The hooks are in the order in which they run. */
export function dueStates<Failure extends FailedSlot>(
  due: readonly DueSlot[],
  failing: readonly Failure[],
  running: Named | undefined,
): DueState<Failure>[] {
  const failureOf = (one: DueSlot) =>
    failing.find((failure) => (failure.relation?.id ?? null) === one.relation && isSameHook(failure, one));
  return due.map((one, index) => {
    if (running !== undefined && isSameHook(running, one)) return { kind: 'running' };
    const failure = failureOf(one);
    if (failure !== undefined) return { kind: 'retry', failure };
    const before = due.slice(0, index).findLastIndex((other) => mustRunBefore(other, one));
    return before < 0 ? { kind: 'turn' } : { kind: 'after', number: before + 1 };
  });
}

const isSameHook = (one: Named, { hook, remoteUnit }: Named): boolean =>
  one.hook === hook && one.remoteUnit === remoteUnit;

/** While a hook of the unit is due, no other hook runs; hooks of a relation run one after the other. */
const mustRunBefore = (other: DueSlot, one: DueSlot): boolean =>
  other.relation === null || other.relation === one.relation;
