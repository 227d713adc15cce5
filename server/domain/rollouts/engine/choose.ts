import type { Definition } from '#server/domain/rollout-rules/stored.ts';
import type { ParkedCause, SkipCause } from '#server/domain/rollout-rules/words.ts';
import type { TurnFacts } from './load-members.ts';

/** Why this rollout may not change a member. */
export interface MemberObstacles {
  hasLeft: boolean;
  isSuperseded: boolean;
  /** Whether another rollout changes the VM first, which this one gives way to. */
  isOthers: boolean;
}

/** The outcome for a member whose turn has come. */
export type MemberChoice =
  | { what: 'begin' }
  | { what: 'park'; cause: ParkedCause }
  | { what: 'skip'; cause: SkipCause }
  /** The VM is silent, and the rollout does not wait for silent VMs. */
  | { what: 'leave' }
  | { what: 'gone' };

export interface ChooseRules extends Pick<Definition, 'silent' | 'availabilitySets'> {
  /** The rollout that this one reverts: its open steps are taken over. */
  reverts: string | null;
}

/**
 * Decides whether the step of a member begins now (RO-13, RO-15, RO-16). `taken` are the disruption groups of members
 * that begin in the same batch.
 */
export function chooseTurn(
  facts: TurnFacts | undefined,
  { hasLeft, isSuperseded, isOthers }: MemberObstacles,
  { silent, availabilitySets, reverts }: ChooseRules,
  taken: ReadonlySet<string>,
): MemberChoice {
  if (facts === undefined || facts.isGone) return { what: 'gone' };
  if (isSuperseded) return { what: 'skip', cause: 'superseded' };
  if (hasLeft) return { what: 'skip', cause: 'left-selection' };
  if (isOthers) return { what: 'park', cause: 'vm-busy' };
  const group = availabilitySets === 'respect' ? facts.group : null;
  if (facts.isHeld) return { what: 'park', cause: 'on-hold' };
  const isAway = facts.agent === 'unresponsive' || facts.agent === 'never';
  if (isAway && silent === 'skip') return { what: 'leave' };
  // A VM of a group is never declared before it can be changed, because its agent could then apply the change at any
  // time.
  if (isAway && (silent !== 'declare' || group !== null)) {
    return { what: 'park', cause: facts.agent === 'never' ? 'never-enrolled' : 'silent' };
  }
  if (facts.openIn !== null && facts.openIn !== reverts) return { what: 'park', cause: 'vm-busy' };
  if (group === null) return { what: 'begin' };
  const isOut = facts.health === 'failed' || facts.health === 'unresponsive';
  const isClosed = taken.has(group) || facts.isGroupBusy || (facts.isGroupImpaired && !isOut);
  return isClosed ? { what: 'park', cause: 'set-busy' } : { what: 'begin' };
}
