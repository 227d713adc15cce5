import { and, eq, isNull, sql } from 'drizzle-orm';
import { models, services, vmHealth, vmRoles } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { countUnits } from '#server/domain/services/index.ts';
import { listModels, type Model, type ModelCounts } from '#server/domain/topology/index.ts';

/** A model with the health of its machines and of its units. */
export type CountedModel = Model & ModelCounts;

/** Lists the models by name, with the number of their services, and the health of their machines and units. */
export async function listCountedModels(ctx: Context): Promise<{ items: CountedModel[] }> {
  allow(ctx.actor, 'viewer');
  const { items } = await listModels(ctx);
  const living = await ctx.db
    .select({
      ...{ id: models.id, name: models.name },
      services: sql<number>`(select count(*)::int from ${services} s where s.model_id = models.id and s.removed_at is null)`,
    })
    .from(models)
    .where(isNull(models.removedAt));
  const counts = await ctx.db
    .select({ model: models.name, health: vmHealth.health, n: sql<number>`count(*)::int` })
    .from(vmRoles)
    .innerJoin(models, and(eq(models.id, vmRoles.modelId), isNull(models.removedAt)))
    .innerJoin(vmHealth, eq(vmHealth.vmId, vmRoles.vmId))
    .groupBy(models.name, vmHealth.health);
  const units = await countUnits(ctx.db, ctx.now);
  const healthOf = Map.groupBy(counts, ({ model }) => model);
  return {
    items: items.map((item) => {
      const row = living.find(({ name }) => name === item.name);
      return {
        ...item,
        health: Object.fromEntries((healthOf.get(item.name) ?? []).map(({ health, n }) => [health, n])),
        services: row?.services ?? 0,
        units: units.get(row?.id ?? '') ?? {},
      };
    }),
  };
}
