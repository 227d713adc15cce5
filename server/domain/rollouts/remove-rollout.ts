import { eq } from 'drizzle-orm';
import { rollouts } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import { recordChange } from '#server/domain/changes/index.ts';
import type { Context } from '#server/domain/context.ts';
import { parse } from '#server/domain/parse.ts';
import { recordAct } from './act-on.ts';
import { hasEffect } from './acts.ts';
import { type InRollout, inRollout } from './input.ts';
import { lockRollout } from './rows.ts';

/** Deletes a rollout that never started. Throws 404 `rollout_unknown`, 409 `rollout_state`. */
export async function removeRollout(ctx: Context, input: InRollout): Promise<void> {
  allow(ctx.actor, 'operator');
  const { id } = parse(inRollout, input);
  await ctx.db.transaction(async (tx) => {
    const row = await lockRollout(tx, id);
    hasEffect('delete', row.state);
    const reverted = await tx
      .update(rollouts)
      .set({ revertedBy: null })
      .where(eq(rollouts.revertedBy, id))
      .returning({ id: rollouts.id });
    await tx.delete(rollouts).where(eq(rollouts.id, id));
    await recordAct(tx, ctx, row, 'rollout.delete');
    for (const changed of [...reverted.map((of) => of.id), id]) await recordChange(tx, 'rollout', changed);
  });
}
