import { and, eq } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { rolloutRings } from '#db/schema/index.ts';
import { allow, systemActor } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { parse } from '#server/domain/parse.ts';
import { actorRef } from '#server/domain/principal.ts';
import type { RolloutApproval, RolloutRules } from '#server/domain/rollout-rules/stored.ts';
import { actOn, recordAct } from './act-on.ts';
import { unknownRing } from './advance-rollout.ts';
import type { RolloutView } from './answers.ts';
import { approvalsNeeded, approverFault, approverRole, isRejected } from './approvals.ts';
import { type ApproveRolloutInput, approveRolloutInput, type RejectRolloutInput, rejectRolloutInput } from './input.ts';
import { changeRollout, ringsOf, type StoredRollout } from './rows.ts';
import { readRules } from './rules.ts';
import { startIn } from './start-rollout.ts';

/** A decision about the start of a rollout or, with `ring`, about the opening of a ring. */
interface Decision {
  plan: string;
  ring?: number | undefined;
  approved: boolean;
  note: string | null;
}

/**
 * Approves one plan, or the opening of one ring. Throws 403 `approval_needs_person` | `approver_is_author`, 404
 * `rollout_unknown`, 409 `rollout_state`, 412 `plan_moved_on`.
 */
export async function approveRollout(ctx: Context, input: ApproveRolloutInput): Promise<RolloutView> {
  allow(ctx.actor, 'operator');
  const { id, note = null, ...decision } = parse(approveRolloutInput, input);
  return decide(ctx, id, { ...decision, approved: true, note });
}

/** Rejects one plan, so that the rollout cannot start until it is planned again. Throws the same as `approveRollout`. */
export async function rejectRollout(ctx: Context, input: RejectRolloutInput): Promise<RolloutView> {
  allow(ctx.actor, 'operator');
  const { id, reason, ...decision } = parse(rejectRolloutInput, input);
  return decide(ctx, id, { ...decision, approved: false, note: reason });
}

async function decide(ctx: Context, id: string, decision: Decision): Promise<RolloutView> {
  if (ctx.actor.kind !== 'user') throw new DomainError('forbidden', 'approval_needs_person');
  return actOn(ctx, id, decision.ring === undefined ? 'decide' : 'decideRing', async (tx, row) => {
    const { rules } = await readRules(tx);
    const fault = await approverFault(tx, ctx, rules, row);
    if (fault === 'forbidden') allow(ctx.actor, approverRole(rules));
    if (fault !== null) throw new DomainError('forbidden', fault);
    if (decision.plan !== row.planHash) throw new DomainError('precondition_failed', 'plan_moved_on');
    const { changed, where } = await store(tx, ctx, row, decision);
    if (changed === row) return row;
    const { approved, note } = decision;
    await recordAct(tx, ctx, row, approved ? 'rollout.approve' : 'rollout.reject', {
      plan: decision.plan,
      ...(where !== null && { ring: where }),
      ...(approved ? { note } : { reason: note }),
    });
    return startsItself(rules, changed, decision)
      ? startIn(tx, bySystem(ctx), changed, { plan: decision.plan, acceptOverlap: [] })
      : changed;
  });
}

/** Whether an automatic rollout has all approvals. It then starts without a person. */
const startsItself = (rules: RolloutRules, row: StoredRollout, { approved }: Decision): boolean =>
  approved &&
  row.kind === 'automatic' &&
  row.state === 'planned' &&
  !isRejected(row) &&
  approvalsNeeded(rules, row) === 0;

const bySystem = (ctx: Context): Context => ({ ...ctx, actor: systemActor });

/** Replaces the caller's earlier decision. Returns the same row if the caller decided the same before. */
async function store(
  tx: Transaction,
  ctx: Context,
  row: StoredRollout,
  { ring, approved, note, plan }: Decision,
): Promise<{ changed: StoredRollout; where: string | null }> {
  const actor = actorRef(ctx.actor);
  const at = ctx.now.toISOString();
  const made = { ring: ring ?? null, approved, actor, by: ctx.actor.name, at, planHash: plan, note };
  const among = ring === undefined ? row.approvals : await approvalsOfRing(tx, row, ring);
  const where = ring === undefined ? null : (row.definition.rings[ring]?.name ?? String(ring + 1));
  const isSame = (one: RolloutApproval) => one.actor === actor && one.planHash === plan;
  if (among.some((one) => isSame(one) && one.approved === approved)) return { changed: row, where };
  const approvals = [...among.filter((one) => !isSame(one)), made];
  if (ring === undefined) return { changed: await changeRollout(tx, row, { approvals, dueAt: row.dueAt }), where };
  await tx
    .update(rolloutRings)
    .set({ approvals })
    .where(and(eq(rolloutRings.rolloutId, row.id), eq(rolloutRings.ring, ring)));
  return { changed: await changeRollout(tx, row, { dueAt: ctx.now }), where };
}

async function approvalsOfRing(
  tx: Transaction,
  { id, definition }: StoredRollout,
  ring: number,
): Promise<RolloutApproval[]> {
  const rings = await ringsOf(tx, id);
  const found = rings[ring];
  if (found === undefined || definition.rings[ring]?.approval !== true) throw unknownRing(rings.length);
  return found.approvals;
}
