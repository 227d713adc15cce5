import type { Transaction } from '#db/client.ts';
import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { parse } from '#server/domain/parse.ts';
import { actorRef } from '#server/domain/principal.ts';
import { actOn } from './act-on.ts';
import type { RolloutView } from './answers.ts';
import { type WaitInRollout, waitInRollout } from './input.ts';
import { changeRollout, type StoredRollout } from './rows.ts';
import { showAfterWait } from './wait-for-state.ts';

/**
 * Requests a plan, which a worker creates. The earlier plan and its approvals become invalid. Throws 404
 * `rollout_unknown`, 409 `rollout_state`.
 */
export async function requestPlan(ctx: Context, input: WaitInRollout): Promise<RolloutView> {
  allow(ctx.actor, 'operator');
  const { id, wait } = parse(waitInRollout, input);
  const view = await actOn(ctx, id, 'plan', (tx, row) => planIn(tx, ctx, row));
  return showAfterWait(ctx, view, ['planning'], wait);
}

/** Makes the workers plan a locked rollout. */
export async function planIn(
  tx: Transaction,
  { actor, now }: Pick<Context, 'actor' | 'now'>,
  row: StoredRollout,
): Promise<StoredRollout> {
  return changeRollout(tx, row, {
    ...noPlan,
    state: 'planning',
    planning: row.planning + 1,
    plannedBy: actor.name,
    authors: { ...row.authors, planned: actorRef(actor) },
    dueAt: now,
  });
}

/** The columns of a rollout without a plan. */
export const noPlan = {
  ...{ plan: null, planHash: null, plannedAt: null, plannedBy: null, members: 0 },
  ...{ approvals: [], why: [], next: null },
} satisfies Partial<StoredRollout>;
