import { and, eq } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { extensions } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import { recordAudit } from '#server/domain/audit/index.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { parse } from '#server/domain/parse.ts';
import { type RemoveExtensionInput, removeExtensionInput } from './input.ts';
import { type ExtensionRow, loadExtensions, lockHead, publishGoalState, requireIncarnation } from './publish.ts';
import { nextSequenceNumber } from './sequence.ts';

/** Where a removal stands: asked for, or done because no agent has to be waited for. */
export interface RemovalReceipt {
  vmId: string;
  name: string;
  state: 'uninstall' | 'removed';
  sequenceNumber: number;
  incarnation: number;
}

/**
 * Asks the agent to uninstall an extension; it leaves the goal state when the agent reports it removed. One that was
 * never delivered is dropped at once, with `force` any. Throws 404 `vm_unknown` | `extension_absent`,
 * 409 `extension_needed` where others depend on it, 412 `goal_state_moved_on`.
 */
export async function removeExtension(ctx: Context, input: RemoveExtensionInput): Promise<RemovalReceipt> {
  allow(ctx.actor, 'operator');
  const { vmId, name, force, ifMatch } = parse(removeExtensionInput, input);
  return ctx.db.transaction(async (tx) => {
    const head = await lockHead(tx, vmId);
    requireIncarnation(head, ifMatch);
    const present = await loadExtensions(tx, vmId);
    const current = present.find((row) => row.name === name);
    if (!current) throw new DomainError('not_found', 'extension_absent');
    const dependants = present.filter((row) => row.state !== 'uninstall' && row.dependsOn.includes(name));
    if (dependants.length > 0) {
      const names = dependants.map((row) => row.name).join(', ');
      throw new DomainError('conflict', 'extension_needed', { params: { name, dependants: names } });
    }
    const drop = force || !current.everDelivered;
    if (!drop && current.state === 'uninstall') {
      return { vmId, name, state: 'uninstall', sequenceNumber: current.sequenceNumber, incarnation: head.incarnation };
    }
    const sequenceNumber = drop ? current.sequenceNumber : await markUninstall(tx, ctx, current);
    if (drop) await dropExtension(tx, vmId, name);
    await recordAudit(tx, ctx, {
      action: force ? 'extension.remove-by-force' : 'extension.remove',
      target: { kind: 'extension', id: name },
      vmId,
      details: { handler: current.handler, version: current.version, withoutAgent: drop },
    });
    const incarnation = await publishGoalState(tx, ctx, head, { action: 'extension.remove', extension: name });
    return { vmId, name, state: drop ? 'removed' : 'uninstall', sequenceNumber, incarnation };
  });
}

/** Turns the goal to `uninstall` under a new sequence number. What waited for it waits no more. */
export async function markUninstall(tx: Transaction, ctx: Context, row: ExtensionRow): Promise<number> {
  const sequenceNumber = await nextSequenceNumber(tx, row.vmId, row.name);
  await tx
    .update(extensions)
    .set({
      state: 'uninstall',
      dependsOn: [],
      sequenceNumber,
      changedAt: ctx.now,
      changedBy: ctx.actor.name,
      deliveredAt: null,
    })
    .where(and(eq(extensions.vmId, row.vmId), eq(extensions.name, row.name)));
  return sequenceNumber;
}

/** Takes an extension out of what is declared. */
export async function dropExtension(tx: Transaction, vmId: string, name: string): Promise<void> {
  await tx.delete(extensions).where(and(eq(extensions.vmId, vmId), eq(extensions.name, name)));
}
