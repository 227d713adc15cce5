import { and, inArray, ne, sql } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { rollouts } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { parse } from '#server/domain/parse.ts';
import { openStates } from '#server/domain/rollout-rules/words.ts';
import { actOn, recordAct } from './act-on.ts';
import type { RolloutView } from './answers.ts';
import { approvalsNeeded, isRejected } from './approvals.ts';
import { type StartRolloutInput, startRolloutInput } from './input.ts';
import { hasNothingToStart } from './planning/empty-plan.ts';
import { changeRollout, type StoredRollout } from './rows.ts';
import { readRules } from './rules.ts';
import { showAfterWait } from './wait-for-state.ts';

/**
 * Starts a planned rollout. A worker first creates the plan again and compares it: if too much changed, the rollout is
 * planned again with the reason `plan_moved_on`. Throws 404 `rollout_unknown`, 409 `rollout_state` | `plan_empty` |
 * `approval_missing` | `rollout_overlap` | `rollouts_open`, 412 `plan_moved_on` without the hash of the current plan.
 */
export async function startRollout(ctx: Context, input: StartRolloutInput): Promise<RolloutView> {
  allow(ctx.actor, 'operator');
  const { id, plan, acceptOverlap = [], wait } = parse(startRolloutInput, input);
  const view = await actOn(ctx, id, 'start', (tx, row) => startIn(tx, ctx, row, { plan, acceptOverlap }));
  if (view.plan?.hash !== plan) throw new DomainError('precondition_failed', 'plan_moved_on');
  return showAfterWait(ctx, view, ['checking'], wait);
}

/** Makes the workers check and start a locked, planned rollout. */
export async function startIn(
  tx: Transaction,
  ctx: Context,
  row: StoredRollout,
  { plan, acceptOverlap }: { plan: string | undefined; acceptOverlap: readonly string[] },
): Promise<StoredRollout> {
  if (plan === undefined || plan !== row.planHash) throw new DomainError('precondition_failed', 'plan_moved_on');
  if (hasNothingToStart(row, row.members)) throw new DomainError('conflict', 'plan_empty');
  const { rules } = await readRules(tx);
  if (isRejected(row) || approvalsNeeded(rules, row) > 0) throw new DomainError('conflict', 'approval_missing');
  requireAccepted(row, acceptOverlap);
  await requireRoom(tx, ctx, row);
  const started = await changeRollout(tx, row, {
    state: 'checking',
    acceptedOverlap: [...acceptOverlap],
    ...{ startedBy: ctx.actor.name, epoch: ctx.epoch, progressAt: ctx.now },
    ...{ why: [], next: null, dueAt: ctx.now },
  });
  await recordAct(tx, ctx, row, 'rollout.start', { plan, members: row.members, acceptedOverlap: acceptOverlap.length });
  return started;
}

/**
 * Rejects a start that would change extensions which open rollouts change too, unless the caller names them all. An
 * automatic rollout gives way to them.
 */
function requireAccepted({ kind, plan }: StoredRollout, accepted: readonly string[]): void {
  if (kind === 'automatic') return;
  const open = (plan?.overlaps ?? []).filter(({ id }) => !accepted.includes(id));
  if (open.length === 0) return;
  const rollouts = open.map(({ name, members }) => `${name} (${members})`).join(', ');
  throw new DomainError('conflict', 'rollout_overlap', { params: { rollouts } });
}

async function requireRoom(tx: Transaction, { config }: Context, { id }: StoredRollout): Promise<void> {
  const limit = config.limits.rollouts.open;
  const [found] = await tx
    .select({ open: sql<number>`count(*)::int` })
    .from(rollouts)
    .where(and(inArray(rollouts.state, [...openStates]), ne(rollouts.id, id)));
  if ((found?.open ?? 0) >= limit) throw new DomainError('conflict', 'rollouts_open', { params: { limit } });
}
