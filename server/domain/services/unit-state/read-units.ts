import { and, eq, isNull, type SQL, sql } from 'drizzle-orm';
import { alias } from 'drizzle-orm/pg-core';
import type { Database, Transaction } from '#db/client.ts';
import {
  agents,
  cloudServices,
  deployments,
  handlerVersions,
  models,
  serviceSettings,
  services,
  units,
  vmRoles,
} from '#db/schema/index.ts';
import type { FormulaManifest } from '#protocol/formula.ts';
import type { Context } from '#server/domain/context.ts';
import { preparedQuery } from '#server/domain/prepared-query.ts';
import { isStagedUnitSql } from '../staging/slot.ts';

/** The settings that the unit should have, and those of its service, which it may get later. */
const own = alias(serviceSettings, 'own_settings');
const latest = alias(serviceSettings, 'latest_settings');
// As SQL, because Drizzle returns null for columns of a joined table if all of them are null.
const secretOf = (settings: typeof own | typeof latest) => ({
  hasSecret: sql<boolean | null>`${settings.secret} is not null`,
  setBy: sql<string | null>`${settings.secretSetBy}`,
});

/** SQL: the public address of a unit, in a query on its cloud service and deployment. */
export const publicAddressSql = sql<string | null>`case when ${deployments.slot} is distinct from 'staging'
  then ${cloudServices.publicAddress} end`;

const columns = {
  id: units.id,
  vmId: units.vmId,
  modelId: units.modelId,
  name: units.name,
  model: models.name,
  serviceId: units.serviceId,
  turn: units.turn,
  life: units.life,
  exposed: services.exposed,
  formula: services.formula,
  formulaVersion: units.formulaVersion,
  /** Only formulas have units. */
  manifest: sql<FormulaManifest>`${handlerVersions.manifest}`,
  sha256: handlerVersions.sha256,
  size: handlerVersions.size,
  settingsVersion: units.settingsVersion,
  timeouts: services.timeouts,
  resolutions: units.resolutions,
  internalAddress: agents.internalAddress,
  assignedAddress: vmRoles.assignedAddress,
  /** The public address leads to Production only. */
  publicAddress: publicAddressSql,
  record: units.record,
  failing: units.failing,
  skipped: units.skipped,
  agentSince: units.agentSince,
  enteredAt: units.enteredAt,
  secret: secretOf(own),
  latestSecret: secretOf(latest),
  enrolledAt: agents.enrolledAt,
  issuerKey: agents.issuerKey,
  issuerIsAdmin: agents.issuerIsAdmin,
  releasedMachineAt: units.releasedMachineAt,
};

/** SQL: whether a deployment is that of a role. */
export const isDeployment = and(
  ...[eq(deployments.cloudService, vmRoles.cloudService), eq(deployments.name, vmRoles.deployment)],
);
const latestVersion = sql`case when ${isStagedUnitSql}
  then coalesce(${services.stagedSettingsVersion}, ${services.settingsVersion}) else ${services.settingsVersion} end`;

/** Reads units that are not removed, with what their goals consist of, sorted by VM and name. */
export function readUnits(db: Database | Transaction, where: SQL) {
  return db
    .select(columns)
    .from(units)
    .innerJoin(services, eq(services.id, units.serviceId))
    .innerJoin(models, eq(models.id, units.modelId))
    .innerJoin(
      handlerVersions,
      and(eq(handlerVersions.handler, services.formula), eq(handlerVersions.version, units.formulaVersion)),
    )
    .leftJoin(own, and(eq(own.serviceId, units.serviceId), eq(own.version, units.settingsVersion)))
    .leftJoin(latest, and(eq(latest.serviceId, units.serviceId), eq(latest.version, latestVersion)))
    .leftJoin(agents, eq(agents.vmId, units.vmId))
    .leftJoin(vmRoles, eq(vmRoles.vmId, units.vmId))
    .leftJoin(cloudServices, eq(cloudServices.name, vmRoles.cloudService))
    .leftJoin(deployments, isDeployment)
    .where(and(isNull(units.removedAt), where))
    .orderBy(units.vmId, services.name, units.number);
}

const ofVm = preparedQuery((db) => readUnits(db, eq(units.vmId, sql.placeholder('vmId'))).prepare('units-of-vm'));

/** Reads the units of a VM with a prepared query. */
export const readUnitsOfVm = (ctx: Pick<Context, 'db' | 'memory'>, vmId: string): Promise<UnitFacts[]> =>
  ofVm(ctx).execute({ vmId });

export type UnitFacts = Awaited<ReturnType<typeof readUnits>>[number];
