import { eq } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { goalStateHeads, vms } from '#db/schema/index.ts';
import { ofVms } from '../of-vms.ts';
import type { LiveHead } from '../publish.ts';

/**
 * Locks the heads that no other transaction has locked, in the order of their ids, until the commit. Returns the ids of
 * their VMs.
 */
export async function lockFreeHeads(tx: Transaction, vmIds: readonly string[]): Promise<ReadonlySet<string>> {
  const rows = await tx
    .select({ vmId: goalStateHeads.vmId })
    .from(goalStateHeads)
    .where(ofVms(goalStateHeads.vmId, vmIds))
    .orderBy(goalStateHeads.vmId)
    .for('update', { skipLocked: true });
  return new Set(rows.map(({ vmId }) => vmId));
}

/** Reads the heads of the VMs that exist and are not being decommissioned. */
export async function readLiveHeads(tx: Transaction, vmIds: readonly string[]): Promise<LiveHead[]> {
  const rows = await tx
    .select({ head: goalStateHeads, deletedAt: vms.deletedAt, decommissioningAt: vms.decommissioningAt })
    .from(goalStateHeads)
    .innerJoin(vms, eq(vms.id, goalStateHeads.vmId))
    .where(ofVms(goalStateHeads.vmId, vmIds));
  return rows.flatMap(({ head, deletedAt, decommissioningAt }) =>
    deletedAt === null && decommissioningAt === null ? [{ ...head, decommissioning: false }] : [],
  );
}
