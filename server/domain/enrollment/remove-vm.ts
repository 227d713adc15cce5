import { and, eq, isNull } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import {
  agentPresence,
  agentProblems,
  agentRefusals,
  agents,
  enrollmentTokens,
  extensionHealth,
  fleetCountDeltas,
  healthTransitions,
  pendingRestarts,
  stockAgents,
  vmHealth,
  vms,
} from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import { recordAudit } from '#server/domain/audit/index.ts';
import { recordChange } from '#server/domain/changes/index.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { retireGoalStates, uninstallAll } from '#server/domain/goal-states/index.ts';
import { parse } from '#server/domain/parse.ts';
import { tell } from '#server/platform/wakes/index.ts';
import { credentialsChannel } from './credentials-channel.ts';
import { type RemoveVmInput, removeVmInput } from './input.ts';

/**
 * Deletes a VM: its credential is dead with the commit, its history stays under its id. With `decommission` its
 * extensions are uninstalled first and it goes with the last of them. Throws 404 `vm_unknown`.
 */
export async function removeVm(ctx: Context, input: RemoveVmInput): Promise<{ deleted: boolean }> {
  allow(ctx.actor, 'operator');
  const { vmId, decommission } = parse(removeVmInput, input);
  return ctx.db.transaction(async (tx) => {
    const [vm] = await tx
      .select()
      .from(vms)
      .where(and(eq(vms.id, vmId), isNull(vms.deletedAt)))
      .for('no key update');
    if (!vm) throw new DomainError('not_found', 'vm_unknown');
    if (decommission) {
      await tx
        .update(vms)
        .set({ decommissioningAt: vm.decommissioningAt ?? ctx.now })
        .where(eq(vms.id, vmId));
      const waiting = await uninstallAll(tx, ctx, vmId);
      if (waiting > 0) {
        await recordAudit(tx, ctx, {
          action: 'vm.decommission',
          target: { kind: 'vm', id: vmId },
          vmId,
          details: { name: vm.name, extensions: waiting },
        });
        return { deleted: false };
      }
    }
    await deleteVm(tx, ctx, vmId);
    return { deleted: true };
  });
}

/** The end of a VM, within the caller's transaction. */
export async function deleteVm(tx: Transaction, ctx: Context, vmId: string): Promise<void> {
  // Presence first, as reports take their locks: they and this never wait for each other in a circle.
  await tx.delete(agentPresence).where(eq(agentPresence.vmId, vmId));
  await retireGoalStates(tx, vmId);
  await tx.delete(agentRefusals).where(eq(agentRefusals.vmId, vmId));
  await tx.delete(agentProblems).where(eq(agentProblems.vmId, vmId));
  await tx.delete(pendingRestarts).where(eq(pendingRestarts.vmId, vmId));
  await tx.delete(stockAgents).where(eq(stockAgents.vmId, vmId));
  await tx.delete(agents).where(eq(agents.vmId, vmId));
  await tx.delete(enrollmentTokens).where(eq(enrollmentTokens.vmId, vmId));
  const [vm] = await tx.update(vms).set({ deletedAt: ctx.now }).where(eq(vms.id, vmId)).returning();
  await recordAudit(tx, ctx, {
    action: 'vm.delete',
    target: { kind: 'vm', id: vmId },
    vmId,
    details: { name: vm?.name },
  });
  await recordChange(tx, 'vm', vmId);
  await forgetHealth(tx, ctx, vmId);
  await tell(tx, credentialsChannel, [vmId]);
}

/**
 * Takes the VM off the lists at once. After the mark of the change nobody derives its health, so that none comes back;
 * whoever takes the mark finds a deleted VM.
 */
async function forgetHealth(tx: Transaction, ctx: Context, vmId: string): Promise<void> {
  const { rowCount } = await tx.delete(extensionHealth).where(eq(extensionHealth.vmId, vmId));
  const [was] = await tx.delete(vmHealth).where(eq(vmHealth.vmId, vmId)).returning();
  if (was === undefined) return;
  await tx.insert(fleetCountDeltas).values([
    { what: was.health, n: -1 },
    { what: 'extensions', n: -(rowCount ?? 0) },
  ]);
  await tx.insert(healthTransitions).values({ at: ctx.now, vmId, kind: 'health', from: was.health });
  await recordChange(tx, 'fleet', vmId);
}
