import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { parse } from '#server/domain/parse.ts';
import { actOn, recordAct } from './act-on.ts';
import type { RolloutView } from './answers.ts';
import { type StopRolloutInput, stopRolloutInput } from './input.ts';
import { changeRollout } from './rows.ts';

/**
 * Closes a rollout that only waits for parked VMs or newcomers. The rollout keeps nothing any longer, so the workers
 * finish it, and VMs that are still parked become `unreached`. Throws 404 `rollout_unknown`, 409 `rollout_state`.
 */
export async function closeRollout(ctx: Context, input: StopRolloutInput): Promise<RolloutView> {
  allow(ctx.actor, 'operator');
  const { id, reason = null } = parse(stopRolloutInput, input);
  return actOn(ctx, id, 'close', async (tx, row) => {
    const { keepDays, newcomers } = row.definition;
    if (keepDays === 0 && newcomers === 'ignore') return row;
    const definition = { ...row.definition, keepDays: 0, newcomers: 'ignore' as const };
    const closing = await changeRollout(tx, row, { definition, dueAt: ctx.now });
    await recordAct(tx, ctx, row, 'rollout.close', { reason });
    return closing;
  });
}
