import { eq, inArray } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { units, vms } from '#db/schema/index.ts';
import { recordChanges } from '#server/domain/changes/index.ts';
import type { Context } from '#server/domain/context.ts';
import { lockHead, takeTurn } from '#server/domain/goal-states/index.ts';
import { closeUnitPorts } from '#server/domain/topology/index.ts';
import { leaveRelations, raiseHeads } from '../relations/index.ts';
import type { UnitRow } from '../runs/find-unit.ts';
import { lockServicesOf } from './end-services.ts';
import { removeUnitsIn } from './remove-units.ts';

/**
 * Begins to remove units. Their agents run the last hooks. A unit that no agent has fetched is removed immediately
 * (EN-52), and with `force` so is every other (EN-53).
 */
export async function dismissUnits(
  tx: Transaction,
  ctx: Context,
  rows: readonly UnitRow[],
  force: boolean,
): Promise<void> {
  const live = rows.filter(({ removedAt }) => removedAt === null);
  // Services are locked before the heads of VMs, as when units get the versions of their service.
  await lockServicesOf(
    tx,
    live.map(({ id }) => id),
  );
  const deleted = await deletedVms(tx, live);
  const isFree = ({ agentSince, vmId }: UnitRow) => force || agentSince === null || deleted.has(vmId);
  await leave(
    tx,
    ctx,
    live.filter((unit) => !isFree(unit) && unit.life === 'alive'),
  );
  await removeUnitsIn(
    tx,
    ctx,
    live.filter(isFree).map(({ id }) => id),
    { forced: force },
  );
}

async function leave(tx: Transaction, ctx: Context, leaving: readonly UnitRow[]): Promise<void> {
  if (leaving.length === 0) return;
  const vmIds = [...new Set(leaving.map(({ vmId }) => vmId))].sort();
  for (const vmId of vmIds) {
    const turn = await takeTurn(tx, await lockHead(tx, vmId));
    const ids = leaving.filter((unit) => unit.vmId === vmId).map(({ id }) => id);
    await tx.update(units).set({ life: 'dying', dyingAt: ctx.now, turn }).where(inArray(units.id, ids));
  }
  await leaveRelations(
    tx,
    ctx,
    leaving.map(({ id }) => id),
  );
  await closeUnitPorts(tx, ctx, leaving);
  await raiseHeads(tx, ctx, vmIds);
  await recordChanges(tx, 'vm', vmIds);
}

async function deletedVms(tx: Transaction, rows: readonly UnitRow[]): Promise<ReadonlySet<string>> {
  if (rows.length === 0) return new Set();
  const found = await tx
    .selectDistinct({ id: vms.id, deletedAt: vms.deletedAt })
    .from(vms)
    .innerJoin(units, eq(units.vmId, vms.id))
    .where(
      inArray(
        units.id,
        rows.map(({ id }) => id),
      ),
    );
  return new Set(found.filter(({ deletedAt }) => deletedAt !== null).map(({ id }) => id));
}
