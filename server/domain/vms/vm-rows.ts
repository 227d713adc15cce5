import { and, eq, isNull, sql } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { agentRefusals, vms } from '#db/schema/index.ts';
import { DomainError } from '#server/domain/error.ts';

/** Locks a VM until the commit, so that it is not deleted and no other agent enrolls. Throws 404 `vm_unknown`. */
export async function lockVm(tx: Transaction, vmId: string): Promise<{ name: string; instanceId: string | null }> {
  const [vm] = await tx
    .select({ name: vms.name, instanceId: vms.instanceId })
    .from(vms)
    .where(and(eq(vms.id, vmId), isNull(vms.deletedAt)))
    .for('no key update');
  if (vm === undefined) throw new DomainError('not_found', 'vm_unknown');
  return vm;
}

/**
 * Marks a VM whose extensions are uninstalled before it is deleted. If the VM is already marked, keeps the earlier
 * time.
 */
export async function markDecommissioning(tx: Transaction, vmId: string, at: Date): Promise<void> {
  await tx
    .update(vms)
    .set({ decommissioningAt: sql`coalesce(${vms.decommissioningAt}, ${at.toISOString()}::timestamptz)` })
    .where(eq(vms.id, vmId));
}

/** Sets the instance id of a VM that becomes the instance of a role, or null when it no longer is one. */
export async function setInstanceId(tx: Transaction, vmId: string, instanceId: string | null): Promise<void> {
  await tx.update(vms).set({ instanceId }).where(eq(vms.id, vmId));
}

/** Marks a VM as deleted and removes the rejected calls from its page. Returns its name. */
export async function markDeleted(tx: Transaction, vmId: string, at: Date): Promise<string | undefined> {
  await clearRefusals(tx, vmId);
  const [vm] = await tx.update(vms).set({ deletedAt: at }).where(eq(vms.id, vmId)).returning({ name: vms.name });
  return vm?.name;
}

/** Deletes the rejected calls that a VM's page lists. */
export async function clearRefusals(tx: Transaction, vmId: string): Promise<void> {
  await tx.delete(agentRefusals).where(eq(agentRefusals.vmId, vmId));
}
