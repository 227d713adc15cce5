import { and, eq, isNull, type SQL, sql } from 'drizzle-orm';
import { v7 as uuid } from 'uuid';
import type { Transaction } from '#db/client.ts';
import { unitCounters, units } from '#db/schema/index.ts';
import { newUnitRecord } from '#protocol/unit-record.ts';
import { recordChange } from '#server/domain/changes/index.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { lockHead, takeTurn } from '#server/domain/goal-states/index.ts';
import { serviceLimits } from '../input.ts';
import { raiseHeads } from '../relations/index.ts';
import type { UnitRow } from '../runs/find-unit.ts';
import type { ServiceRow } from '../service-rows.ts';
import { isStaged } from '../staging/slot.ts';
import { versionsOf } from '../staging/staged-target.ts';

/**
 * Adds a unit of a service to a VM, with the service's versions for the slot that the VM is in. The model is locked, or the service's lock is held.
 * Throws 409 `units_too_many`.
 */
export async function insertUnit(tx: Transaction, ctx: Context, service: ServiceRow, vmId: string): Promise<UnitRow> {
  const { id: serviceId, modelId } = service;
  const { formulaVersion, settingsVersion } = versionsOf(service, await isStaged(tx, vmId));
  await requireRoom(tx, { serviceId, vmId }, 1);
  const number = await nextNumber(tx, modelId, service.name);
  const turn = await takeTurn(tx, await lockHead(tx, vmId));
  const { relations: _, failing: __, skipped: ___, ...record } = newUnitRecord();
  const [unit] = await tx
    .insert(units)
    .values({
      ...{ id: uuid(), modelId, serviceId, name: `${service.name}/${number}`, number, vmId, life: 'alive', turn },
      ...{ formulaVersion, settingsVersion, record, createdAt: ctx.now, createdBy: ctx.actor.name },
    })
    .returning();
  if (unit === undefined) throw new Error('the unit was not stored');
  await raiseHeads(tx, ctx, [vmId]);
  await recordChange(tx, 'vm', vmId);
  return unit;
}

/**
 * Returns the number of the next unit of a service. Numbers are never used again, not even after the service is removed
 * (EN-1).
 */
async function nextNumber(tx: Transaction, modelId: string, serviceName: string): Promise<number> {
  const [row] = await tx
    .insert(unitCounters)
    .values({ modelId, serviceName, next: 1 })
    .onConflictDoUpdate({
      target: [unitCounters.modelId, unitCounters.serviceName],
      set: { next: sql`${unitCounters.next} + 1` },
    })
    .returning({ next: unitCounters.next });
  if (row === undefined) throw new Error('the unit got no number');
  return row.next - 1;
}

/** Rejects units beyond the limits of a service and of a VM; `vmId` is null if the units get new machines. */
export async function requireRoom(
  tx: Transaction,
  { serviceId, vmId }: { serviceId: string; vmId: string | null },
  more: number,
): Promise<void> {
  const count = (where: SQL) => tx.$count(units, and(where, isNull(units.removedAt)));
  requireWithin((await count(eq(units.serviceId, serviceId))) + more, serviceLimits.units);
  if (vmId !== null) requireWithin((await count(eq(units.vmId, vmId))) + more, serviceLimits.unitsOfVm);
}

function requireWithin(all: number, limit: number): void {
  if (all > limit) throw new DomainError('conflict', 'units_too_many', { params: { limit } });
}
