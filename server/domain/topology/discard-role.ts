import { and, eq } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { agents, cloudServices, endpoints, vmRoles, vms } from '#db/schema/index.ts';
import { recordChange } from '#server/domain/changes/index.ts';
import type { Context } from '#server/domain/context.ts';
import { setInternalAddress } from '#server/domain/enrollment/index.ts';
import { decommissionVm, deleteVm } from '#server/domain/vm-lifecycle/index.ts';
import { setInstanceId } from '#server/domain/vms/index.ts';
import { callProvider } from './call-provider.ts';
import { tellFabric } from './endpoint-rows.ts';
import { lockModelById, updateModel } from './model-rows.ts';
import type { CloudProvider } from './provider.ts';
import { dropService, endEmptyDeployment, endEmptyService } from './service-rows.ts';

type RoleRow = typeof vmRoles.$inferSelect;

/**
 * Marks a role for deletion. With `forced`, its VM is deleted without waiting for the agent to uninstall extensions.
 * If the role is already marked, only `forced` can be added. Returns whether there is such a role.
 */
export async function markRole(tx: Transaction, ctx: Context, vmId: string, forced: boolean): Promise<boolean> {
  const [row] = await tx.select().from(vmRoles).where(eq(vmRoles.vmId, vmId)).for('no key update');
  if (row === undefined) return false;
  await tx
    .update(vmRoles)
    .set({ state: 'deleting', leaseUntil: null, deletingAt: row.deletingAt ?? ctx.now, forced: row.forced || forced })
    .where(eq(vmRoles.vmId, vmId));
  await tellFabric(tx, row.cloudService);
  return true;
}

/** Deletes a role that could not be created. If the provider fails again, the repair completes the deletion. */
export async function discardRole(ctx: Context, provider: CloudProvider, role: RoleRow): Promise<void> {
  const { vmId } = role;
  const isThere = await ctx.db.transaction((tx) => markRole(tx, ctx, vmId, true));
  try {
    if (isThere) await deleteRole(ctx, provider, vmId);
    else await dropAgain(ctx, provider, role);
  } catch (error) {
    ctx.log.warn({ err: error, vmId }, 'a role could not be deleted; the repair tries again');
  }
}

/** Drops what the provider created of a role after the repair had deleted the role. */
async function dropAgain({ db }: Context, provider: CloudProvider, role: RoleRow): Promise<void> {
  const { cloudService, deployment, name } = role;
  const [service] = await db
    .select({ goneAt: cloudServices.goneAt })
    .from(cloudServices)
    .where(eq(cloudServices.name, cloudService));
  await callProvider('dropRoles', () => provider.dropRoles(cloudService, deployment, [name]));
  if (service?.goneAt) await callProvider('dropCloudService', () => provider.dropCloudService(cloudService));
}

/**
 * Continues the deletion of a marked role: its VM, the role at the provider, its row, and its deployment and
 * cloud service with the last role. Each step can be repeated. Returns whether the role is gone; otherwise its agent has to uninstall
 * extensions first.
 */
export async function deleteRole(ctx: Context, provider: CloudProvider, vmId: string): Promise<boolean> {
  const [role] = await ctx.db.select().from(vmRoles).where(eq(vmRoles.vmId, vmId));
  if (role === undefined) return true;
  if (role.state !== 'deleting') return false;
  if (!(await ctx.db.transaction((tx) => deleteVmOf(tx, ctx, role)))) return false;
  const { cloudService, deployment, name, modelId } = role;
  await callProvider('dropRoles', () => provider.dropRoles(cloudService, deployment, [name]));
  await ctx.db.transaction(async (tx) => {
    const model = await lockModelById(tx, modelId);
    await tx.delete(endpoints).where(eq(endpoints.vmId, vmId));
    await tx.delete(vmRoles).where(eq(vmRoles.vmId, vmId));
    await endEmptyDeployment(tx, cloudService, deployment);
    await endEmptyService(tx, cloudService);
    await updateModel(tx, model);
  });
  await dropService(ctx, provider, cloudService);
  return true;
}

/** Makes an adopted VM independent of its role (JU-37). */
async function giveBack(tx: Transaction, vmId: string): Promise<void> {
  await setInstanceId(tx, vmId, null);
  await setInternalAddress(tx, vmId, null);
  await recordChange(tx, 'vm', vmId);
}

/** Deletes the VM of a role, or gives an adopted VM back. Returns false while its agent has extensions to uninstall. */
async function deleteVmOf(tx: Transaction, ctx: Context, { vmId, forced, adopted }: RoleRow): Promise<boolean> {
  if (adopted) {
    await giveBack(tx, vmId);
    return true;
  }
  const [vm] = await tx
    .select({ name: vms.name, deletedAt: vms.deletedAt, decommissioningAt: vms.decommissioningAt })
    .from(vms)
    .where(eq(vms.id, vmId))
    .for('no key update');
  if (vm === undefined || vm.deletedAt !== null) return true;
  const [agent] = await tx
    .select({ vmId: agents.vmId })
    .from(agents)
    .where(and(eq(agents.vmId, vmId)));
  if (forced || agent === undefined) {
    await deleteVm(tx, ctx, vmId);
    return true;
  }
  if (vm.decommissioningAt !== null) return false;
  return decommissionVm(tx, ctx, vmId, vm.name);
}
