import type { Transaction } from '#db/client.ts';
import { allow } from '#server/domain/actor.ts';
import { recordAudit } from '#server/domain/audit/index.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { endWaiting } from '#server/domain/executions/index.ts';
import { uninstallAll } from '#server/domain/goal-states/index.ts';
import { parse } from '#server/domain/parse.ts';
import { lockVm, markDecommissioning } from '#server/domain/vms/index.ts';
import { deleteVm } from './delete-vm.ts';
import { type RemoveVmInput, removeVmInput } from './input.ts';

/**
 * Deletes a VM. Its credential becomes invalid with the commit, and its history is kept under its id. With
 * `decommission`, its extensions are uninstalled first, and the report of the last removal deletes the VM. Returns
 * whether the VM is already deleted. Throws 404 `vm_unknown`, 409 `vm_is_role` for a machine of a model.
 */
export async function removeVm(ctx: Context, input: RemoveVmInput): Promise<{ deleted: boolean }> {
  allow(ctx.actor, 'operator');
  const { vmId, decommission } = parse(removeVmInput, input);
  return ctx.db.transaction(async (tx) => {
    const { name, instanceId } = await lockVm(tx, vmId);
    if (instanceId !== null) throw new DomainError('conflict', 'vm_is_role', { params: { instance: instanceId } });
    if (decommission) return { deleted: await decommissionVm(tx, ctx, vmId, name) };
    await deleteVm(tx, ctx, vmId);
    return { deleted: true };
  });
}

/**
 * Deletes a locked VM after its extensions were uninstalled. Returns whether it had none and is already deleted;
 * otherwise the report of the last removal deletes the VM.
 */
export async function decommissionVm(tx: Transaction, ctx: Context, vmId: string, name: string): Promise<boolean> {
  await markDecommissioning(tx, vmId, ctx.now);
  await endWaiting(tx, ctx, vmId);
  const waiting = await uninstallAll(tx, ctx, vmId);
  if (waiting === 0) {
    await deleteVm(tx, ctx, vmId);
    return true;
  }
  await recordAudit(tx, ctx, {
    action: 'vm.decommission',
    target: { kind: 'vm', id: vmId },
    vmId,
    details: { name, extensions: waiting },
  });
  return false;
}
