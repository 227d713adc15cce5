import { and, eq, isNull } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { relationEndpoints, relations, serviceSettings, services, units } from '#db/schema/index.ts';
import { recordAudit } from '#server/domain/audit/index.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { type ModelRow, tellExposure, updateModel } from '#server/domain/topology/index.ts';
import { canonicalJson } from '#server/platform/canonical-json.ts';
import type { PreparedService, ServiceRequest } from './prepare-service.ts';
import { raiseHeads, setPeerRelations } from './relations/index.ts';
import type { FormulaVersionRow, ServiceRow } from './service-rows.ts';
import type { SettingsRow } from './settings/plan-settings.ts';
import { stagedColumns } from './staging/staged-target.ts';
import { insertStaged } from './staging/store-staged.ts';
import { advanceUnits } from './units/advance-units.ts';

/** Returns how many units may change at the same time; null for all. */
export const numberAtOnce = (given: ServiceRequest['upgrade'], kept: number | null): number | null =>
  given === undefined ? kept : given.atOnce === 'all' ? null : given.atOnce;

/**
 * Changes a service of a locked model. Throws 422 `formula_lacks_endpoint`.
 */
export async function changeService(
  tx: Transaction,
  ctx: Context,
  model: ModelRow,
  current: ServiceRow,
  request: ServiceRequest,
  { formula, before, settings, staged }: PreparedService,
): Promise<ServiceRow> {
  if (before === null) throw new Error('the service was not read');
  await requireEndpoints(tx, current, formula);
  const next = {
    formulaVersion: formula.version,
    settingsVersion: settings.version,
    exposed: request.exposed ?? current.exposed,
    timeouts: request.timeouts ?? current.timeouts,
    atOnceUpgrade: numberAtOnce(request.upgrade, current.atOnceUpgrade),
    atOnceConfigure: numberAtOnce(request.configure, current.atOnceConfigure),
  };
  const changed = fieldsThatDiffer(current, next);
  if (changed.length === 0) return current;
  if (settings !== before) await tx.insert(serviceSettings).values(settings);
  await insertStaged(tx, current, { staged, settings });
  const [row] = await tx
    .update(services)
    .set({ ...next, ...stagedColumns(staged) })
    .where(eq(services.id, current.id))
    .returning();
  if (row === undefined) throw new Error('the service was not stored');
  if (changed.includes('formulaVersion')) await setPeerRelations(tx, ctx, row, formula.manifest);
  const isExposure = changed.includes('exposed');
  if (isExposure || changed.includes('timeouts')) await tellUnitsOf(tx, ctx, row, isExposure);
  await advanceUnits(tx, ctx, row.id);
  await recordUpdate(tx, ctx, model, { current, row, changed, settings: [before, settings] });
  await updateModel(tx, model);
  return row;
}

type Changing = Pick<
  ServiceRow,
  'formulaVersion' | 'settingsVersion' | 'exposed' | 'timeouts' | 'atOnceUpgrade' | 'atOnceConfigure'
>;

const fieldsThatDiffer = (before: Changing, after: Changing): (keyof Changing)[] =>
  (Object.keys(after) as (keyof Changing)[]).filter((key) => canonicalJson(before[key]) !== canonicalJson(after[key]));

/** Rejects a version that lacks an endpoint of a relation of the service. */
export async function requireEndpoints(
  tx: Transaction,
  service: Pick<ServiceRow, 'id' | 'name' | 'formulaVersion'>,
  formula: FormulaVersionRow,
): Promise<void> {
  if (formula.version === service.formulaVersion) return;
  const used = await tx
    .select({ side: relationEndpoints.side, name: relationEndpoints.name, interface: relations.interface })
    .from(relationEndpoints)
    .innerJoin(relations, eq(relations.id, relationEndpoints.relationId))
    .where(and(eq(relationEndpoints.serviceId, service.id), eq(relations.life, 'alive'), isNull(relations.removedAt)));
  const lost = used.find(
    ({ side, name, interface: spoken }) => side !== 'peer' && formula.manifest[side][name]?.interface !== spoken,
  );
  if (lost === undefined) return;
  const params = { version: formula.version, endpoint: `${service.name}:${lost.name}` };
  throw new DomainError('unprocessable', 'formula_lacks_endpoint', { params });
}

/** Has the agents of a service fetch their units again and, if its exposure changed, the fabric their ports. */
async function tellUnitsOf(tx: Transaction, ctx: Context, { id }: ServiceRow, isExposure: boolean): Promise<void> {
  const rows = await tx
    .selectDistinct({ vmId: units.vmId })
    .from(units)
    .where(and(eq(units.serviceId, id), isNull(units.removedAt)));
  const vmIds = rows.map(({ vmId }) => vmId);
  await raiseHeads(tx, ctx, vmIds);
  if (isExposure) await tellExposure(tx, vmIds);
}

interface Update {
  current: ServiceRow;
  row: ServiceRow;
  changed: readonly (keyof Changing)[];
  settings: readonly [before: SettingsRow, after: SettingsRow];
}

async function recordUpdate(
  tx: Transaction,
  ctx: Context,
  { name }: ModelRow,
  { current, row, changed, settings: [before, after] }: Update,
): Promise<void> {
  const shown = (service: ServiceRow, { given }: SettingsRow) => ({
    ...Object.fromEntries(changed.map((key) => [key, service[key]])),
    ...(after !== before && { settings: given }),
  });
  await recordAudit(tx, ctx, {
    action: 'service.update',
    target: { kind: 'model', id: name },
    before: shown(current, before),
    after: shown(row, after),
    details: { service: row.name, protectedChanged: before.secretFingerprint !== after.secretFingerprint },
  });
}
