import type { Transaction } from '#db/client.ts';
import { type Actor, hasRole } from '#server/domain/actor.ts';
import { actorRef, findPrincipal } from '#server/domain/principal.ts';
import type { RolloutRules } from '#server/domain/rollout-rules/stored.ts';
import type { StoredRollout } from './rows.ts';

type Decided = Pick<StoredRollout, 'kind' | 'members' | 'planHash' | 'approvals'>;

/**
 * Returns how many more people must approve a rollout before it starts. Reverts need no approval, and automatic rollouts
 * only if the rules say so. Edits void the approvals of earlier plans.
 */
export function approvalsNeeded({ approval }: Pick<RolloutRules, 'approval'>, row: Decided): number {
  if (approval === null || row.kind === 'revert') return 0;
  if (row.kind === 'automatic' && approval.automatic !== true) return 0;
  if (row.members < approval.fromMembers) return 0;
  const approvers = decisionsOf(row).filter(({ approved }) => approved);
  return Math.max(0, approval.people - new Set(approvers.map(({ actor }) => actor)).size);
}

/** Whether a person rejected the plan. Only a new plan can be approved. */
export const isRejected = (row: Decided): boolean => decisionsOf(row).some(({ approved }) => !approved);

const decisionsOf = ({ approvals, planHash }: Decided) =>
  approvals.filter((decision) => decision.ring === null && decision.planHash === planHash);

/** Why a caller may not approve or reject. */
export type ApproverFault = 'approval_needs_person' | 'approver_is_author' | 'forbidden';

/** The role that an approver needs. */
export const approverRole = ({ approval }: Pick<RolloutRules, 'approval'>) => approval?.role ?? 'operator';

/**
 * Returns why a caller may not decide about a rollout; null if the caller may. Approvers are signed-in members, and
 * none of them created the rollout, edited it last or requested its last plan, also not with an API token.
 */
export async function approverFault(
  tx: Transaction,
  { actor, now }: { actor: Actor; now: Date },
  rules: Pick<RolloutRules, 'approval'>,
  { authors }: Pick<StoredRollout, 'authors'>,
): Promise<ApproverFault | null> {
  if (actor.kind !== 'user') return 'approval_needs_person';
  if (!hasRole(actor, approverRole(rules))) return 'forbidden';
  const refs = [authors.created, authors.edited, authors.planned];
  if (refs.includes(actorRef(actor))) return 'approver_is_author';
  for (const ref of refs) {
    const principal = await findPrincipal(tx, ref, now);
    if (principal?.key === actorRef(actor)) return 'approver_is_author';
  }
  return null;
}
