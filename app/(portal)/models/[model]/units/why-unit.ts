import type { ShownDue, ShownFailure, ShownRun, ShownUnitDetails, UnitMachine } from './unit-data.ts';

/** Why a unit is not done, or is degraded. */
export type UnitWhy =
  | { kind: 'enroll' | 'unheard' | 'noUnits' }
  | { kind: 'silent'; since: string }
  | { kind: 'failing'; failure: ShownFailure }
  | { kind: 'running'; run: ShownRun }
  | { kind: 'late' | 'waiting'; due: ShownDue | null }
  | { kind: 'skipped'; mark: ShownUnitDetails['skipped'][number] }
  | { kind: 'release' }
  | { kind: 'relation'; name: string };

export interface WhyFacts {
  unit: Pick<ShownUnitDetails, 'stage' | 'health' | 'cause' | 'hook' | 'failing' | 'skipped' | 'agentSince'>;
  /** Undefined while it is loading. */
  machine: Pick<UnitMachine, 'agent' | 'agentKind'> | undefined;
  due: readonly ShownDue[];
  running: ShownRun | undefined;
}

/** Returns why a unit is not done or is degraded, the first reason that applies; null if there is nothing to explain. */
export function whyOf({ unit, machine, due, running }: WhyFacts): UnitWhy | null {
  if (unit.stage === 'removed') return null;
  if (machine?.agent.status === 'never') return { kind: machine.agentKind === null ? 'enroll' : 'unheard' };
  if (machine?.agent.status === 'unresponsive' && machine.agent.lastSeenAt !== null) {
    return { kind: 'silent', since: machine.agent.lastSeenAt };
  }
  const failure = worstFailure(unit.failing);
  if (failure !== undefined) return { kind: 'failing', failure };
  if (running !== undefined) return { kind: 'running', run: running };
  if (unit.agentSince === null && machine !== undefined) return { kind: 'noUnits' };
  if (unit.cause === 'release') return { kind: 'release' };
  const [first = null] = due;
  if (unit.cause === 'late') return { kind: 'late', due: first };
  if (first !== null) return { kind: 'waiting', due: first };
  const [mark] = unit.skipped;
  if (mark !== undefined) return { kind: 'skipped', mark };
  return unit.cause === 'relation' && unit.hook !== null ? { kind: 'relation', name: unit.hook } : null;
}

/** Returns the failure that explains the unit. A hook of the unit keeps all others waiting, so it comes first; then the hook that failed most often. */
export const worstFailure = (failing: readonly ShownFailure[]): ShownFailure | undefined =>
  failing.toSorted((a, b) => Number(a.relation !== null) - Number(b.relation !== null) || b.failures - a.failures)[0];
