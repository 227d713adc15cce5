import { and, asc, eq, inArray, isNull, sql } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { models, serviceSettings, services, unitCounters, units, vmRoles } from '#db/schema/index.ts';
import type { FormulaManifest } from '#protocol/formula.ts';
import type { Life, Side } from '#server/domain/service-rules/words.ts';
import { type ModelRow, readInventory } from '#server/domain/topology/index.ts';
import type { Inventory } from '#server/domain/topology-rules/place.ts';
import type { ServiceRow } from '../service-rows.ts';
import type { SettingsRow } from '../settings/plan-settings.ts';
import { isStagedUnitSql } from '../staging/slot.ts';

/** A service of a model. */
export interface ModelServiceState {
  row: ServiceRow;
  settings: SettingsRow;
  manifest: FormulaManifest;
  /** The newest version of the settings; units in Staging can have a different one. */
  latest: number;
}

/** A unit that was not removed. */
export interface ModelUnitState {
  id: string;
  name: string;
  number: number;
  service: string;
  life: Life;
  /** The number of its machine; null while the machine is being deleted. */
  machine: number | null;
  instanceId: string | null;
  /** Whether it is in Staging. False in a model without availability sets, where nothing is staged. */
  isStaged: boolean;
  isSeen: boolean;
  isFailing: boolean;
}

/** A relation that has not ended. */
export interface RelationState {
  id: number;
  number: number;
  interface: string;
  life: Life;
  /** Whether units take part, so that it does not end immediately. */
  hasUnits: boolean;
  endpoints: readonly { side: Side; service: string; name: string }[];
}

/** A machine that is not being deleted. */
export interface ModelMachineState {
  machine: number;
  hostname: string;
  isController: boolean;
}

/** What a model contains, read in one transaction. */
export interface ModelState {
  model: ModelRow;
  services: ReadonlyMap<string, ModelServiceState>;
  units: readonly ModelUnitState[];
  relations: readonly RelationState[];
  machines: readonly ModelMachineState[];
  inventory: Inventory & { controllers: readonly string[] };
  /** The number of the next unit of each service that has or had units. */
  counters: ReadonlyMap<string, number>;
}

/** Reads a model that exists. Returns null if there is none with this name. */
export async function readState(tx: Transaction, name: string): Promise<ModelState | null> {
  const [model] = await tx
    .select()
    .from(models)
    .where(and(eq(models.name, name), isNull(models.removedAt)));
  if (model === undefined) return null;
  const present = await readServices(tx, model.id);
  return {
    model,
    services: new Map(present.map((one) => [one.row.name, one])),
    units: await readUnits(tx, model),
    relations: await readRelations(tx, model.id),
    machines: await readMachines(tx, model.id),
    inventory: await readInventory(tx, model),
    counters: await readCounters(tx, model.id),
  };
}

async function readServices(tx: Transaction, modelId: string): Promise<ModelServiceState[]> {
  return tx
    .select({
      row: services,
      settings: serviceSettings,
      manifest: sql<FormulaManifest>`(select v.manifest from handler_versions v
        where v.handler = ${services.formula} and v.version = ${services.formulaVersion})`,
      latest: sql<number>`(select max(t.version) from service_settings t where t.service_id = ${services.id})`,
    })
    .from(services)
    .innerJoin(
      serviceSettings,
      and(eq(serviceSettings.serviceId, services.id), eq(serviceSettings.version, services.settingsVersion)),
    )
    .where(and(eq(services.modelId, modelId), isNull(services.removedAt)))
    .orderBy(asc(services.name));
}

async function readUnits(
  tx: Transaction,
  { id: modelId, availabilitySetsEnabled }: ModelRow,
): Promise<ModelUnitState[]> {
  const rows = await tx
    .select({
      ...{ id: units.id, name: units.name, number: units.number, service: services.name, life: units.life },
      ...{ machine: vmRoles.machine, cloudService: vmRoles.cloudService, role: vmRoles.name, state: vmRoles.state },
      ...{ agentSince: units.agentSince, failing: units.failing, staged: isStagedUnitSql },
    })
    .from(units)
    .innerJoin(services, eq(services.id, units.serviceId))
    .leftJoin(vmRoles, eq(vmRoles.vmId, units.vmId))
    .where(and(eq(units.modelId, modelId), isNull(units.removedAt)))
    .orderBy(asc(services.name), asc(units.number));
  return rows.map(({ cloudService, role, state, agentSince, failing, machine, staged, ...unit }) => ({
    ...unit,
    machine: state === 'deleting' ? null : machine,
    instanceId: cloudService === null || state === 'deleting' ? null : `${cloudService}-${role}`,
    isStaged: availabilitySetsEnabled && staged,
    isSeen: agentSince !== null,
    isFailing: Object.keys(failing).length > 0,
  }));
}

async function readRelations(tx: Transaction, modelId: string): Promise<RelationState[]> {
  const { rows } = await tx.execute<Omit<RelationState, 'id'> & { id: string } & Record<string, unknown>>(sql`
    select r.id, r.number, r.interface, r.life,
      exists (select from relation_units p where p.relation_id = r.id and p.state <> 'broken') as "hasUnits",
      (select json_agg(json_build_object('side', e.side, 'service', s.name, 'name', e.name) order by e.side desc)
         from relation_endpoints e join services s on s.id = e.service_id where e.relation_id = r.id) as endpoints
      from relations r where r.model_id = ${modelId} and r.removed_at is null order by r.number`);
  return rows.map((row) => ({ ...row, id: Number(row.id) }));
}

async function readMachines(tx: Transaction, modelId: string): Promise<ModelMachineState[]> {
  return tx
    .select({ machine: vmRoles.machine, hostname: vmRoles.hostname, isController: vmRoles.controller })
    .from(vmRoles)
    .where(and(eq(vmRoles.modelId, modelId), inArray(vmRoles.state, ['creating', 'ready'])))
    .orderBy(asc(vmRoles.machine));
}

async function readCounters(tx: Transaction, modelId: string): Promise<Map<string, number>> {
  const rows = await tx.select().from(unitCounters).where(eq(unitCounters.modelId, modelId));
  return new Map(rows.map(({ serviceName, next }) => [serviceName, next]));
}
