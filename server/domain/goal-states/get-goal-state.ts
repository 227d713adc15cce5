import { and, eq, isNull } from 'drizzle-orm';
import { z } from 'zod';
import { goalStateHeads, goalStates, vms } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import { count, sha256, time } from '#server/domain/answers.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { handlerId, handlerVersion } from '#server/domain/packages/input.ts';
import { parse } from '#server/domain/parse.ts';
import { vmId } from '#server/domain/vms/input.ts';
import { goal, timeouts } from './goal.ts';
import { type GetGoalStateInput, getGoalStateInput } from './input.ts';

/** The current goal state in the form that the agent receives, with its author and time. */
export const goalStateView = z.object({
  protocol: z.literal(1),
  vmId,
  incarnation: count,
  turn: count.optional().describe('Absent in goal states that an earlier release published.'),
  etag: z.string(),
  publishedAt: time,
  publishedBy: z.string(),
  extensions: z.array(
    z.object({
      name: z.string(),
      handler: handlerId,
      version: handlerVersion,
      state: goal,
      sequenceNumber: count,
      dependsOn: z.array(z.string()),
      timeouts,
      package: z.object({ sha256, size: count, url: z.string() }),
      settings: z.object({
        publicSettings: z.record(z.string(), z.unknown()),
        protectedSettings: z.string().optional(),
        protectedSettingsCertThumbprint: z.string().optional(),
      }),
    }),
  ),
});
export type GoalStateView = z.infer<typeof goalStateView>;

/**
 * Reads the current goal state. Operators only, because it contains public settings. Throws 404 `vm_unknown`, also
 * for a deleted VM.
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
    ...(JSON.parse(row.head.text) as Omit<GoalStateView, 'etag' | 'publishedAt' | 'publishedBy'>),
    etag: row.head.etag,
    publishedAt: row.head.publishedAt.toISOString(),
    publishedBy: row.publishedBy,
  };
}
