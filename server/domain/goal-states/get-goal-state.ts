import { and, eq, isNull } from 'drizzle-orm';
import { goalStateHeads, goalStates, vms } from '#db/schema/index.ts';
import type { GoalState } from '#protocol/index.ts';
import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { parse } from '#server/domain/parse.ts';
import { type GetGoalStateInput, getGoalStateInput } from './input.ts';

/** The goal state in force as the agent receives it, with its author and time. */
export type GoalStateView = GoalState & { etag: string; publishedAt: string; publishedBy: string };

/**
 * Reads the goal state in force. Operators only, because it contains public settings. Throws 404 `vm_unknown`, also for
 * a deleted VM.
 */
export async function getGoalState(ctx: Context, input: GetGoalStateInput): Promise<GoalStateView> {
  allow(ctx.actor, 'operator');
  const { vmId } = parse(getGoalStateInput, input);
  const [row] = await ctx.db
    .select({ head: goalStateHeads, publishedBy: goalStates.publishedBy })
    .from(goalStateHeads)
    .innerJoin(
      goalStates,
      and(eq(goalStates.vmId, goalStateHeads.vmId), eq(goalStates.incarnation, goalStateHeads.incarnation)),
    )
    .innerJoin(vms, and(eq(vms.id, goalStateHeads.vmId), isNull(vms.deletedAt)))
    .where(eq(goalStateHeads.vmId, vmId));
  if (!row) throw new DomainError('not_found', 'vm_unknown');
  return {
    ...(JSON.parse(row.head.text) as GoalState),
    etag: row.head.etag,
    publishedAt: row.head.publishedAt.toISOString(),
    publishedBy: row.publishedBy,
  };
}
