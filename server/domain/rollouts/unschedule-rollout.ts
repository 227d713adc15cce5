import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { parse } from '#server/domain/parse.ts';
import { actOn, recordAct } from './act-on.ts';
import type { RolloutView } from './answers.ts';
import { type StopRolloutInput, stopRolloutInput } from './input.ts';
import { changeRollout } from './rows.ts';

/** Cancels the scheduled start of a rollout, which stays planned. Throws 404 `rollout_unknown`, 409 `rollout_state`. */
export async function unscheduleRollout(ctx: Context, input: StopRolloutInput): Promise<RolloutView> {
  allow(ctx.actor, 'operator');
  const { id, reason = null } = parse(stopRolloutInput, input);
  return actOn(ctx, id, 'unschedule', async (tx, row) => {
    const planned = await changeRollout(tx, row, {
      ...{ state: 'planned', startedAt: null, startedBy: null, acceptedOverlap: [] },
      ...{ why: [], next: null, dueAt: null },
    });
    await recordAct(tx, ctx, row, 'rollout.unschedule', { reason });
    return planned;
  });
}
