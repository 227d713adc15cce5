import { and, eq, isNull } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { units, vmRoles } from '#db/schema/index.ts';
import { recordAudit } from '#server/domain/audit/index.ts';
import type { Context } from '#server/domain/context.ts';
import {
  type CloudProvider,
  createInstance,
  findMachine,
  lockModel,
  type ModelRow,
  type NewMachine,
  requireBootstrapped,
  showNewMachine,
  updateModel,
} from '#server/domain/topology/index.ts';
import { formatInstanceId } from '#server/domain/topology-rules/instance-ids.ts';
import { distributionGroup } from '#server/domain/topology-rules/place.ts';
import type { DeploymentSlot } from '#server/domain/topology-rules/words.ts';
import type { UnitRow } from '../runs/find-unit.ts';
import { requireLiving, requireService } from '../service-rows.ts';
import { livingInProduction } from '../staging/slot.ts';
import { insertUnit } from './insert-unit.ts';
import { removeUnitsIn } from './remove-units.ts';

/** A unit that was added. `machine` is null if it was placed on a machine that exists. */
export interface NewUnit {
  unit: string;
  machine: NewMachine | null;
}

/**
 * What is to be placed. `to` is the number of a machine. `upTo`: how many units the service should have; if another
 * request adds units at the same time, fewer are placed.
 */
export interface Placing {
  service: string;
  count: number;
  to?: number | undefined;
  /** The slot of new machines; Production by default. */
  slot?: DeploymentSlot | undefined;
  upTo?: number | undefined;
}

/** The service has as many units as it should have. */
class EnoughUnits extends Error {
  override readonly name = 'EnoughUnits';
}

/**
 * Adds units to a service, one after the other: each on the chosen machine, or on a new one. If the provider fails,
 * nothing of that unit remains, and the units before it stay. Throws 404 `service_unknown`, 409 `service_dying` |
 * `units_too_many` | `unit_placement_unsupported` | `machine_removed`, 422 `placement_unknown`, 503 `provider_failed`.
 */
export async function placeUnits(
  ctx: Context,
  provider: CloudProvider,
  model: ModelRow,
  placing: Placing,
): Promise<NewUnit[]> {
  const { count, to } = placing;
  const added: NewUnit[] = [];
  try {
    for (let number = 0; number < count; number += 1) {
      added.push(
        to === undefined
          ? await placeOnNewMachine(ctx, provider, model, placing)
          : await placeOnMachine(ctx, model, placing, to),
      );
    }
  } catch (error) {
    if (!(error instanceof EnoughUnits)) throw error;
  }
  return added;
}

function placeOnMachine(ctx: Context, { name }: ModelRow, placing: Placing, to: number): Promise<NewUnit> {
  return ctx.db.transaction(async (tx) => {
    const model = await lockModel(tx, name);
    requireBootstrapped(model);
    const vmId = await findMachine(tx, model, to);
    const service = await readService(tx, model, placing.service);
    await requireLack(tx, model, service, placing);
    const unit = await insertUnit(tx, ctx, service, vmId);
    await recordUnit(tx, ctx, model, unit);
    await updateModel(tx, model);
    return { unit: unit.name, machine: null };
  });
}

async function placeOnNewMachine(
  ctx: Context,
  provider: CloudProvider,
  model: ModelRow,
  placing: Placing,
): Promise<NewUnit> {
  const stored: UnitRow[] = [];
  const use = {
    groupOf: (tx: Transaction, locked: ModelRow) => readGroup(tx, locked, placing.service),
    store: async (tx: Transaction, { vm }: { vm: { id: string } }) => {
      const service = await readService(tx, model, placing.service);
      await requireLack(tx, model, service, { upTo: placing.upTo, own: stored.length });
      stored.push(await insertUnit(tx, ctx, service, vm.id));
    },
  };
  try {
    const created = await createInstance(ctx, provider, model, { kind: 'unit', use, slot: placing.slot });
    const unit = stored.find(({ vmId }) => vmId === created.vm.id);
    if (unit === undefined) throw new Error('the unit was not stored');
    const failed = stored.filter((one) => one !== unit).map(({ id }) => id);
    await ctx.db.transaction(async (tx) => {
      await removeUnitsIn(tx, ctx, failed);
      await recordUnit(tx, ctx, model, unit);
    });
    return { unit: unit.name, machine: showNewMachine(ctx, created) };
  } catch (error) {
    await ctx.db.transaction((tx) =>
      removeUnitsIn(
        tx,
        ctx,
        stored.map(({ id }) => id),
      ),
    );
    throw error;
  }
}

async function readService(tx: Transaction, { id }: ModelRow, name: string) {
  const service = await requireService(tx, id, name);
  requireLiving(service);
  return service;
}

/** Throws `EnoughUnits` if the service has all its units. `own` of them belong to failed attempts of the caller. */
async function requireLack(
  tx: Transaction,
  model: ModelRow,
  { id }: { id: string },
  { upTo, own = 0 }: { upTo?: number | undefined; own?: number },
): Promise<void> {
  if (upTo === undefined) return;
  if ((await tx.$count(units, livingInProduction(model, id))) - own >= upTo) throw new EnoughUnits();
}

/** Returns the distribution group of a service's units (JU-9). */
export async function readGroup(tx: Transaction, model: ModelRow, name: string): Promise<string[]> {
  const { id: serviceId } = await requireService(tx, model.id, name);
  const roles = await tx
    .selectDistinct({
      cloudService: vmRoles.cloudService,
      name: vmRoles.name,
      state: vmRoles.state,
      isController: vmRoles.controller,
    })
    .from(units)
    .innerJoin(vmRoles, eq(vmRoles.vmId, units.vmId))
    .where(and(eq(units.serviceId, serviceId), isNull(units.removedAt)));
  const members = roles.map(({ cloudService, name: role, state, isController }) => {
    return { id: formatInstanceId({ service: cloudService, role }), state, isController, services: [name] };
  });
  return distributionGroup(members, { service: name });
}

export async function recordUnit(tx: Transaction, ctx: Context, { name }: ModelRow, unit: UnitRow): Promise<void> {
  await recordAudit(tx, ctx, {
    action: 'unit.add',
    target: { kind: 'model', id: name },
    vmId: unit.vmId,
    after: { unit: unit.name, formulaVersion: unit.formulaVersion, settingsVersion: unit.settingsVersion },
    details: { unit: unit.name },
  });
}
