import { inArray, isNull, sql } from 'drizzle-orm';
import { z } from 'zod';
import { cloudServices, models, vmRoles } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import { count, time } from '#server/domain/answers.ts';
import type { Context } from '#server/domain/context.ts';
import { parse } from '#server/domain/parse.ts';
import { modelLives } from '#server/domain/topology-rules/words.ts';
import { vmHealths } from '#server/domain/verdicts/index.ts';
import { type GetModelInput, getModelInput } from './input.ts';
import { type ModelRow, readModel } from './model-rows.ts';

const byHealth = z.partialRecord(z.enum(vmHealths), count);

/** What the list of models counts besides the model itself. */
const counted = z.object({
  health: byHealth.describe(
    'Number of machines by health, as in the list of VMs; health values without machines are absent.',
  ),
  services: count.describe('Number of services, including those that are being removed.'),
  units: byHealth.describe('Number of units by health; health values without units are absent.'),
});
export type ModelCounts = z.infer<typeof counted>;

/** A model as the API returns it. Only the list of models has the counts. */
export const model = z
  .object({
    name: z.string(),
    life: z.enum(modelLives).describe('`destroying`: the model is being destroyed.'),
    location: z.string(),
    storageAccount: z.string(),
    affinityGroup: z.string(),
    network: z.string(),
    availabilitySetsEnabled: z.boolean(),
    bootstrappedAt: time.nullable().describe('Null before the bootstrap.'),
    machines: count.describe('Number of machines, including those that are being created or deleted.'),
    controllers: count,
    cloudServices: count,
    destroyingSince: time.nullable(),
    warnings: z
      .array(z.object({ code: z.enum(['network_left', 'affinity_group_left']), name: z.string() }))
      .describe('What the destruction could not delete.'),
    revision: count,
    createdAt: time,
    createdBy: z.string(),
    ...counted.partial().shape,
  })
  .meta({ id: 'Model' });
export type Model = z.infer<typeof model>;

/** Reads one model. Throws 404 `model_unknown`. */
export async function getModel(ctx: Context, input: GetModelInput): Promise<Model> {
  allow(ctx.actor, 'viewer');
  const { model: name } = parse(getModelInput, input);
  return showModel(ctx, await readModel(ctx.db, name));
}

/** Lists the models by name. */
export async function listModels(ctx: Context): Promise<{ items: Model[] }> {
  allow(ctx.actor, 'viewer');
  const rows = await ctx.db.select().from(models).where(isNull(models.removedAt)).orderBy(models.name);
  return { items: await showModels(ctx, rows) };
}

/** Returns a model as the API shows it. */
export async function showModel(ctx: Context, row: ModelRow): Promise<Model> {
  const [shown] = await showModels(ctx, [row]);
  if (shown === undefined) throw new Error('the model was not read');
  return shown;
}

async function showModels({ db }: Context, rows: readonly ModelRow[]): Promise<Model[]> {
  if (rows.length === 0) return [];
  const ids = rows.map(({ id }) => id);
  const machines = await db
    .select({
      modelId: vmRoles.modelId,
      all: sql<number>`count(*)::int`,
      controllers: sql<number>`count(*) filter (where ${vmRoles.controller})::int`,
    })
    .from(vmRoles)
    .where(inArray(vmRoles.modelId, ids))
    .groupBy(vmRoles.modelId);
  const services = await db
    .select({
      modelId: cloudServices.modelId,
      all: sql<number>`count(*) filter (where ${cloudServices.goneAt} is null)::int`,
    })
    .from(cloudServices)
    .where(inArray(cloudServices.modelId, ids))
    .groupBy(cloudServices.modelId);
  return rows.map((row) => {
    const counted = machines.find(({ modelId }) => modelId === row.id);
    const { name, life, location, storageAccount, affinityGroup, network, availabilitySetsEnabled, revision } = row;
    return {
      ...{ name, life, location, storageAccount, affinityGroup, network, availabilitySetsEnabled, revision },
      bootstrappedAt: row.bootstrappedAt?.toISOString() ?? null,
      machines: counted?.all ?? 0,
      controllers: counted?.controllers ?? 0,
      cloudServices: services.find(({ modelId }) => modelId === row.id)?.all ?? 0,
      destroyingSince: row.destroyingAt?.toISOString() ?? null,
      warnings: row.warnings,
      createdAt: row.createdAt.toISOString(),
      createdBy: row.createdBy,
    };
  });
}
