import type { Transaction } from '#db/client.ts';
import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { parse } from '#server/domain/parse.ts';
import { actOn, recordAct } from './act-on.ts';
import type { RolloutView } from './answers.ts';
import { type StopRolloutInput, stopRolloutInput } from './input.ts';
import { changeRollout, type StoredRollout } from './rows.ts';

/**
 * Aborts a rollout: no further VM begins, goal states that no agent has fetched are taken back, and the rollout ends
 * when the delivered steps are decided. Throws 404 `rollout_unknown`, 409 `rollout_state`.
 */
export async function abortRollout(ctx: Context, input: StopRolloutInput): Promise<RolloutView> {
  allow(ctx.actor, 'operator');
  const { id, reason = null } = parse(stopRolloutInput, input);
  return actOn(ctx, id, 'abort', async (tx, row) => {
    const aborting = await abortIn(tx, ctx, row);
    await recordAct(tx, ctx, row, 'rollout.abort', { reason, from: row.state });
    return aborting;
  });
}

/** Makes a locked, open rollout end. The workers do the rest. */
export async function abortIn(
  tx: Transaction,
  { now }: Pick<Context, 'now'>,
  row: Pick<StoredRollout, 'id'>,
): Promise<StoredRollout> {
  return changeRollout(tx, row, { state: 'aborting', pausedBy: null, why: [], next: null, dueAt: now });
}
