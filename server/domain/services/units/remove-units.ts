import { and, eq, inArray, isNull, sql } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { models, unitPorts, units, vmRoles } from '#db/schema/index.ts';
import { recordChanges } from '#server/domain/changes/index.ts';
import type { Context } from '#server/domain/context.ts';
import { closeUnitPorts, markRole } from '#server/domain/topology/index.ts';
import { forgetParticipants, raiseHeads } from '../relations/index.ts';
import { interruptRun } from '../runs/begin-run.ts';
import { endServices, lockServicesOf } from './end-services.ts';

/** How units are removed. */
export interface UnitRemoval {
  /** Whether they are removed without their agents. Everything on the machines stays as it is. */
  forced?: boolean;
  /** Whether machines without units stay, because they get other units. */
  keepsMachines?: boolean;
}

/**
 * Removes units: other units see them depart, services that are dying end with their last unit, and in a model with
 * availability sets a machine goes with its last unit. Units that were removed are left out.
 */
export async function removeUnitsIn(
  tx: Transaction,
  ctx: Context,
  ids: readonly string[],
  { forced = false, keepsMachines = false }: UnitRemoval = {},
): Promise<void> {
  if (ids.length === 0) return;
  await lockServicesOf(tx, ids);
  const removed = await tx
    .update(units)
    .set({
      life: 'dying',
      dyingAt: sql`coalesce(${units.dyingAt}, ${ctx.now.toISOString()}::timestamptz)`,
      removedAt: ctx.now,
      forced: sql`${units.agentSince} is not null and ${forced}`,
      failing: {},
      resolutions: [],
    })
    .where(and(inArray(units.id, [...ids]), isNull(units.removedAt)))
    .returning();
  if (removed.length === 0) return;
  for (const unit of removed) await interruptRun(tx, ctx, unit);
  const gone = removed.map(({ id }) => id);
  const vmIds = [...new Set(removed.map(({ vmId }) => vmId))].sort();
  const { endedServices } = await forgetParticipants(tx, ctx, gone);
  await tx.delete(unitPorts).where(inArray(unitPorts.unitId, gone));
  await closeUnitPorts(tx, ctx, removed);
  await raiseHeads(tx, ctx, vmIds);
  if (!keepsMachines) await releaseMachines(tx, ctx, vmIds, forced);
  await endServices(tx, ctx, [...removed.map(({ serviceId }) => serviceId), ...endedServices]);
  await recordChanges(tx, 'vm', vmIds);
}

/**
 * Begins to delete machines that no longer hold a unit: in a model with availability sets, where a machine exists for
 * its unit, and in a model that is being destroyed.
 */
async function releaseMachines(
  tx: Transaction,
  ctx: Context,
  vmIds: readonly string[],
  forced: boolean,
): Promise<void> {
  const empty = await tx
    .select({ vmId: vmRoles.vmId })
    .from(vmRoles)
    .innerJoin(models, eq(models.id, vmRoles.modelId))
    .where(
      and(
        inArray(vmRoles.vmId, [...vmIds]),
        sql`(${models.availabilitySetsEnabled} or ${models.life} = 'destroying')`,
        sql`not exists (select from ${units} u where u.vm_id = ${vmRoles.vmId} and u.removed_at is null)`,
      ),
    )
    .orderBy(vmRoles.vmId);
  for (const { vmId } of empty) await markRole(tx, ctx, vmId, forced);
}
