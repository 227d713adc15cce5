import { and, eq } from 'drizzle-orm';
import { goalStateHeads, goalStates } from '#db/schema/index.ts';
import type { GoalState } from '#protocol/index.ts';
import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { parse } from '#server/domain/parse.ts';
import { type GetGoalStateInput, getGoalStateInput } from './input.ts';

/** Returns the newest goal state that was sent to a VM's agent, as it was sent; null if none was. Operators only. */
export async function getDeliveredGoalState(
  ctx: Context,
  input: GetGoalStateInput,
): Promise<{ incarnation: number; deliveredAt: string | null; document: GoalState } | null> {
  allow(ctx.actor, 'operator');
  const { vmId } = parse(getGoalStateInput, input);
  const [row] = await ctx.db
    .select({ head: goalStateHeads, text: goalStates.text })
    .from(goalStateHeads)
    .innerJoin(
      goalStates,
      and(eq(goalStates.vmId, goalStateHeads.vmId), eq(goalStates.incarnation, goalStateHeads.deliveredIncarnation)),
    )
    .where(eq(goalStateHeads.vmId, vmId));
  if (row === undefined) return null;
  const { deliveredIncarnation, deliveredAt } = row.head;
  return {
    incarnation: deliveredIncarnation,
    deliveredAt: deliveredAt?.toISOString() ?? null,
    document: JSON.parse(row.text) as GoalState,
  };
}
