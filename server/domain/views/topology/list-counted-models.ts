import { and, eq, isNull, sql } from 'drizzle-orm';
import { models, vmHealth, vmRoles } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { listModels, type Model } from '#server/domain/topology/index.ts';
import type { VmHealth } from '#server/domain/verdicts/index.ts';

/** A model with the number of its machines in each health. The numbers match the list of VMs. */
export type CountedModel = Model & { health: Partial<Record<VmHealth, number>> };

/** Lists the models by name, with the health of their machines. */
export async function listCountedModels(ctx: Context): Promise<{ items: CountedModel[] }> {
  allow(ctx.actor, 'viewer');
  const { items } = await listModels(ctx);
  const counts = await ctx.db
    .select({ model: models.name, health: vmHealth.health, n: sql<number>`count(*)::int` })
    .from(vmRoles)
    .innerJoin(models, and(eq(models.id, vmRoles.modelId), isNull(models.removedAt)))
    .innerJoin(vmHealth, eq(vmHealth.vmId, vmRoles.vmId))
    .groupBy(models.name, vmHealth.health);
  const healthOf = Map.groupBy(counts, ({ model }) => model);
  return {
    items: items.map((model) => ({
      ...model,
      health: Object.fromEntries((healthOf.get(model.name) ?? []).map(({ health, n }) => [health, n])),
    })),
  };
}
