import type { Transaction } from '#db/client.ts';
import { type Actor, hasRole } from '#server/domain/actor.ts';
import { actorRef, findPrincipal } from '#server/domain/principal.ts';
import type { Reason, RolloutApproval, RolloutRules } from '#server/domain/rollout-rules/stored.ts';
import type { StoredRollout } from './rows.ts';

type Decided = Pick<StoredRollout, 'kind' | 'members' | 'planHash' | 'approvals'> & {
  plan: { approval?: boolean | null } | null;
};

/**
 * Returns how many more people must approve a rollout before it starts. Reverts need no approval, and automatic
 * rollouts only if the rules say so. Edits invalidate the approvals of earlier plans. If every execution needs an
 * approval, one person approves the plan of a run instead.
 */
export function approvalsNeeded({ approval }: Pick<RolloutRules, 'approval'>, row: Decided): number {
  if (row.kind === 'revert') return 0;
  const byRule = isCovered(approval, row) ? (approval?.people ?? 0) : 0;
  const people = Math.max(byRule, row.plan?.approval === true ? 1 : 0);
  return Math.max(0, people - new Set(approvalsOf(row).map(({ actor }) => actor)).size);
}

/** Whether the portal's rules require approvals of the rollout. */
const isCovered = (approval: RolloutRules['approval'], { kind, members }: Decided): boolean =>
  approval !== null && members >= approval.fromMembers && (kind !== 'automatic' || approval.automatic === true);

/** Returns the approvals of the current plan. */
export const approvalsOf = (row: Decided): RolloutApproval[] => decisionsOf(row).filter(({ approved }) => approved);

/** Returns the rejection of the current plan; undefined without one. Only a new plan can be approved. */
const rejectionOf = (row: Decided): RolloutApproval | undefined => decisionsOf(row).find(({ approved }) => !approved);

/** Whether a person rejected the plan. */
export const isRejected = (row: Decided): boolean => rejectionOf(row) !== undefined;

/**
 * Returns why a rollout does not move, as people see it: a rejected plan cannot start, whatever other reasons there
 * are.
 */
export function shownWhy(row: Decided & Pick<StoredRollout, 'state' | 'why'>): Reason[] {
  const rejection = row.state === 'planned' ? rejectionOf(row) : undefined;
  if (rejection === undefined) return row.why;
  const { by, note, at } = rejection;
  return [{ code: 'plan_rejected', params: { by, reason: note ?? '' }, since: at }, ...row.why];
}

const decisionsOf = ({ approvals, planHash }: Decided) =>
  approvals.filter((decision) => decision.ring === null && decision.planHash === planHash);

/** Why a caller may not approve or reject. */
export type ApproverFault = 'approval_needs_person' | 'approver_is_author' | 'forbidden';

/** The role that an approver needs. */
export const approverRole = ({ approval }: Pick<RolloutRules, 'approval'>) => approval?.role ?? 'operator';

/**
 * Returns why a caller may not decide about a rollout; null if the caller may. Approvers are signed-in members, and
 * none of them created the rollout, edited it last or requested its last plan, not even with an API token.
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
