import type { Transaction } from '#db/client.ts';
import type { Context } from '#server/domain/context.ts';
import {
  findMachine,
  type ModelRow,
  type Reservation,
  removeMachineIn,
  reserveInstanceIn,
} from '#server/domain/topology/index.ts';
import type { DeploymentSlot } from '#server/domain/topology-rules/words.ts';
import { changeService } from '../change-service.ts';
import { addRelationIn, removeRelationIn } from '../relations/index.ts';
import { removeServiceIn } from '../remove-service.ts';
import { removeUnitIn } from '../remove-unit.ts';
import type { UnitRow } from '../runs/find-unit.ts';
import { requireService } from '../service-rows.ts';
import { deployService } from '../set-service.ts';
import { stageVersion } from '../staging/stage-version.ts';
import { insertUnit } from '../units/insert-unit.ts';
import { readGroup, recordUnit } from '../units/place-units.ts';
import type { Desired, ModelPlan, PlannedService, PlannedUnit } from './model-plan.ts';

/** What a transaction stored, and the provider has to create. */
export interface Reserved {
  /** Machines that the document names. */
  machines: Reservation[];
  /** Units with the machine that each of them gets; null if it exists or is one of `machines`. */
  units: { unit: UnitRow; service: string; slot: DeploymentSlot; machine: Reservation | null }[];
  /** Services from which a unit was removed. */
  advancing: string[];
}

interface Change {
  model: ModelRow;
  desired: Desired;
  plan: ModelPlan;
}

/**
 * Stores what a plan does to a locked model, by the verbs that do each act alone. Relations that end go first, because
 * an upgrade may lack their endpoints.
 */
export async function changeModel(tx: Transaction, ctx: Context, { model, desired, plan }: Change): Promise<Reserved> {
  const { left } = plan;
  if (desired.prune) for (const { number } of left.relations) await removeRelationIn(tx, ctx, model, number);
  for (const service of plan.services) await setService(tx, ctx, model, service);
  const leases = plan.machines.length + plan.units.length;
  const machines: Reservation[] = [];
  for (const { machine } of plan.machines) {
    machines.push(await reserveInstanceIn(tx, ctx, model.id, { kind: 'machine', machine, leases }));
  }
  const units: Reserved['units'] = [];
  for (const unit of plan.units) units.push(await addUnit(tx, ctx, model, unit, leases));
  for (const { endpoints } of plan.relations) await addRelationIn(tx, ctx, model, endpoints);
  const advancing = desired.prune ? await removeLeft(tx, ctx, model, plan) : [];
  return { machines, units, advancing };
}

async function setService(tx: Transaction, ctx: Context, model: ModelRow, planned: PlannedService): Promise<void> {
  const { name: service, fields, prepared, current } = planned;
  const { handler: formula, version } = prepared.formula;
  const request = { model: model.name, service, formula, version, ...fields };
  const row =
    current === null
      ? await deployService(tx, ctx, model, request, prepared)
      : await changeService(tx, ctx, model, current.row, request, prepared);
  await stageVersion(tx, ctx, model, row, prepared.staged);
}

/** Adds a unit, on the machine that the document names or on a new one. */
async function addUnit(
  tx: Transaction,
  ctx: Context,
  model: ModelRow,
  { service: name, machine, isChosen, isStaged, unit: expected }: PlannedUnit,
  leases: number,
): Promise<Reserved['units'][number]> {
  const service = await requireService(tx, model.id, name);
  const insert = async (vmId: string): Promise<UnitRow> => {
    const unit = await insertUnit(tx, ctx, service, vmId);
    if (unit.name !== expected) throw new Error(`${expected} was planned, and not ${unit.name}`);
    await recordUnit(tx, ctx, model, unit);
    return unit;
  };
  if (isChosen) {
    const unit = await insert(await findMachine(tx, model, machine));
    return { unit, service: name, slot: 'production', machine: null };
  }
  const stored: UnitRow[] = [];
  const use = {
    groupOf: (inner: Transaction, locked: ModelRow) => readGroup(inner, locked, name),
    store: async (_: Transaction, { vm }: { vm: { id: string } }) => void stored.push(await insert(vm.id)),
  };
  const slot = isStaged ? ('staging' as const) : ('production' as const);
  const reserved = await reserveInstanceIn(tx, ctx, model.id, { kind: 'unit', use, leases, machine, slot });
  const [unit] = stored;
  if (unit === undefined) throw new Error('the unit was not stored');
  return { unit, service: name, slot, machine: reserved };
}

/** Removes what a document leaves out. Returns the services from which single units were removed. */
async function removeLeft(tx: Transaction, ctx: Context, model: ModelRow, { left }: ModelPlan): Promise<string[]> {
  const advancing = new Set<string>();
  for (const { name: unit } of left.units) {
    const serviceId = await removeUnitIn(tx, ctx, model, { unit, force: false });
    if (serviceId !== null) advancing.add(serviceId);
  }
  for (const { name: service } of left.services) await removeServiceIn(tx, ctx, model, { service, force: false });
  for (const machine of left.machines) await removeMachineIn(tx, ctx, model, { machine, force: false });
  return [...advancing];
}
