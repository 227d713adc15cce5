import { and, count as countRows, eq, getTableColumns, isNull, sql } from 'drizzle-orm';
import { z } from 'zod';
import { services, units } from '#db/schema/index.ts';
import { allow, hasRole } from '#server/domain/actor.ts';
import { count, isoOrNull, time } from '#server/domain/answers.ts';
import type { Context } from '#server/domain/context.ts';
import { parse } from '#server/domain/parse.ts';
import { preparedQuery } from '#server/domain/prepared-query.ts';
import { lives } from '#server/domain/service-rules/words.ts';
import { type ModelRow, readModel } from '#server/domain/topology/index.ts';
import { type GetServiceInput, getServiceInput, type ListServicesInput, listServicesInput } from './input.ts';
import { requireService, type ServiceRow } from './service-rows.ts';
import { readSettings, type SettingsRow } from './settings/plan-settings.ts';
import { readUnitViews, unit } from './units/unit-view.ts';

const values = z.record(z.string(), z.unknown());
const atOnce = z.object({ atOnce: z.union([count, z.literal('all')]) });

const shared = z.object({
  name: z.string(),
  life: z.enum(lives).describe('`dying`: the service is being removed.'),
  formula: z.string(),
  version: z.string().describe('The version of the formula that the units get.'),
  exposed: z.boolean(),
  stagedVersion: z.string().nullable().describe('The version that units in Staging get, if it is another one.'),
  settingsVersion: count,
  timeouts: z.record(z.string(), z.number()).describe('Time limits of hooks in seconds, instead of the formula’s.'),
  upgrade: atOnce.describe('How many units may change their version at the same time.'),
  configure: atOnce.describe('How many units may change their settings at the same time.'),
  dyingSince: time.nullable(),
  createdAt: time,
  createdBy: z.string(),
});

/** A service in a list, as the API returns it. */
export const listedService = shared.extend({ units: count.describe('Number of units.') }).meta({ id: 'ListedService' });

/** A service as the API returns it. */
export const service = shared
  .extend({
    settings: values.nullable().describe('What operators set; null for viewers.'),
    effectiveSettings: values.nullable().describe('The same with the defaults of the schema; null for viewers.'),
    settingKeys: z.array(z.string()).describe('The keys of the effective settings.'),
    hasProtectedSettings: z.boolean(),
    needsRelease: count.describe('Number of units that wait until an admin releases the protected settings.'),
    settingsChangedAt: time,
    settingsChangedBy: z.string(),
    units: z.array(unit),
  })
  .meta({ id: 'Service' });
export type Service = z.infer<typeof service>;

const ofModel = preparedQuery((db) => {
  const modelId = sql.placeholder('modelId');
  const counted = db
    .select({ serviceId: units.serviceId, all: countRows().as('all_units') })
    .from(units)
    .where(and(eq(units.modelId, modelId), isNull(units.removedAt)))
    .groupBy(units.serviceId)
    .as('counted');
  return db
    .select({ ...getTableColumns(services), units: counted.all })
    .from(services)
    .leftJoin(counted, eq(counted.serviceId, services.id))
    .where(and(eq(services.modelId, modelId), isNull(services.removedAt)))
    .orderBy(services.name)
    .prepare('services-of-model');
});

/** Lists the services of a model by name. Throws 404 `model_unknown`. */
export async function listServices(
  ctx: Context,
  input: ListServicesInput,
): Promise<{ items: z.infer<typeof listedService>[] }> {
  allow(ctx.actor, 'viewer');
  const { model: name } = parse(listServicesInput, input);
  const model = await readModel(ctx.db, name);
  const rows = await ofModel(ctx).execute({ modelId: model.id });
  return { items: rows.map((row) => ({ ...sharedOf(row), units: row.units ?? 0 })) };
}

/** Reads a service with its units. Throws 404 `model_unknown` | `service_unknown`. */
export async function getService(ctx: Context, input: GetServiceInput): Promise<Service> {
  allow(ctx.actor, 'viewer');
  const { model: name, service: serviceName } = parse(getServiceInput, input);
  return showService(ctx, await readModel(ctx.db, name), serviceName);
}

/** Returns a service as the API shows it. Throws 404 `service_unknown`. */
export async function showService(ctx: Context, { id: modelId }: ModelRow, name: string): Promise<Service> {
  const row = await requireService(ctx.db, modelId, name);
  const settings = await readSettings(ctx.db, row.id, row.settingsVersion);
  const members = await readUnitViews(ctx, and(eq(units.serviceId, row.id), isNull(units.removedAt)));
  const waiting = members.filter((member) => member.needsRelease);
  return { ...sharedOf(row), ...settingsOf(ctx, settings), needsRelease: waiting.length, units: members };
}

function settingsOf({ actor }: Context, row: SettingsRow) {
  const isShown = hasRole(actor, 'operator');
  return {
    settings: isShown ? row.given : null,
    effectiveSettings: isShown ? row.effective : null,
    settingKeys: Object.keys(row.effective).sort(),
    hasProtectedSettings: row.secret !== null,
    settingsChangedAt: row.changedAt.toISOString(),
    settingsChangedBy: row.changedBy,
  };
}

function sharedOf(row: ServiceRow): z.infer<typeof shared> {
  const { name, life, formula, formulaVersion: version, exposed, settingsVersion, timeouts } = row;
  return {
    ...{ name, life, formula, version, exposed, stagedVersion: row.stagedVersion, settingsVersion, timeouts },
    upgrade: { atOnce: row.atOnceUpgrade ?? 'all' },
    configure: { atOnce: row.atOnceConfigure ?? 'all' },
    dyingSince: isoOrNull(row.dyingAt),
    createdAt: row.createdAt.toISOString(),
    createdBy: row.createdBy,
  };
}
