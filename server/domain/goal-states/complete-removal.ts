import type { Transaction } from '#db/client.ts';
import { recordAudit } from '#server/domain/audit/index.ts';
import type { Context } from '#server/domain/context.ts';
import { loadExtensions, lockHead, publishGoalState } from './publish.ts';
import { dropExtension } from './remove-extension.ts';
import { shownExtension } from './shown-extension.ts';

/** The effect of a removal on the VM. */
export interface Removal {
  /**
   * False if the report is out of date: the extension is gone, its goal is no longer `uninstall`, or it has another
   * sequence number.
   */
  removed: boolean;
  /** Whether the VM is being decommissioned and this was its last extension. */
  decommissioned: boolean;
}

/** Removes an extension from the goal state, in the transaction that stores the agent's report of the removal. */
export async function completeRemoval(
  tx: Transaction,
  ctx: Context,
  vmId: string,
  name: string,
  sequenceNumber: number,
): Promise<Removal> {
  const head = await lockHead(tx, vmId);
  const present = await loadExtensions(tx, vmId);
  const current = present.find((row) => row.name === name);
  if (current?.state !== 'uninstall' || current.sequenceNumber !== sequenceNumber) {
    return { removed: false, decommissioned: false };
  }
  await dropExtension(tx, vmId, name);
  await recordAudit(tx, ctx, {
    action: 'extension.removed',
    target: { kind: 'extension', id: name },
    vmId,
    before: shownExtension(current),
    details: { handler: current.handler, version: current.version },
  });
  await publishGoalState(tx, ctx, head, { action: 'extension.removed', extension: name });
  return { removed: true, decommissioned: head.decommissioning && present.length === 1 };
}
