import { allow } from '#server/domain/actor.ts';
import { recordAudit } from '#server/domain/audit/index.ts';
import { recordChange } from '#server/domain/changes/index.ts';
import type { Context } from '#server/domain/context.ts';
import { credentialsChannel, deletePresence, removeStockAgent } from '#server/domain/enrollment/index.ts';
import { DomainError } from '#server/domain/error.ts';
import { lockHead, unbindCertificate } from '#server/domain/goal-states/index.ts';
import { parse } from '#server/domain/parse.ts';
import { lockVm } from '#server/domain/vms/index.ts';
import { tell } from '#server/platform/wakes/index.ts';
import { dropStockAgent } from './drop-stock-agent.ts';
import { type RevokeWireAccessInput, revokeWireAccessInput } from './input.ts';

/**
 * Ends stock mode: the commit removes the forwarder token and the tenant key, and a reference agent may enroll. The
 * extensions remain declared. Throws 404 `vm_unknown` | `wire_access_absent`.
 */
export async function revokeWireAccess(ctx: Context, input: RevokeWireAccessInput): Promise<void> {
  allow(ctx.actor, 'operator');
  const { vmId } = parse(revokeWireAccessInput, input);
  await ctx.db.transaction(async (tx) => {
    await lockVm(tx, vmId);
    await lockHead(tx, vmId);
    // The presence is locked last, as it is for a report of a removal.
    await deletePresence(tx, vmId);
    await dropStockAgent(tx, vmId);
    const thumbprint = await removeStockAgent(tx, vmId);
    if (thumbprint === null) throw new DomainError('not_found', 'wire_access_absent');
    await unbindCertificate(tx, vmId);
    await recordAudit(tx, ctx, {
      action: 'wire-access.revoke',
      target: { kind: 'vm', id: vmId },
      vmId,
      before: { thumbprint },
    });
    await recordChange(tx, 'vm', vmId);
    await tell(tx, credentialsChannel, [vmId]);
  });
}
