import { eq } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { extensions, secrets } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import { tell } from '#server/platform/wakes/index.ts';
import { goalStatesChannel, loadExtensions, lockHead, publishGoalState } from './publish.ts';
import { dropExtension, markUninstall } from './remove-extension.ts';

/** Deletes the declarations and secrets of a VM that is being deleted, but keeps its history. Wakes its held polls. */
export async function retireGoalStates(tx: Transaction, vmId: string): Promise<void> {
  await lockHead(tx, vmId);
  await tx.delete(extensions).where(eq(extensions.vmId, vmId));
  await tx.delete(secrets).where(eq(secrets.vmId, vmId));
  await tell(tx, goalStatesChannel, [vmId]);
}

/**
 * Requests the uninstall of every extension, and drops extensions that were never delivered. Returns the number of
 * extensions that the agent must remove before the VM can be deleted.
 */
export async function uninstallAll(tx: Transaction, ctx: Context, vmId: string): Promise<number> {
  const head = await lockHead(tx, vmId);
  let waiting = 0;
  for (const row of await loadExtensions(tx, vmId)) {
    if (!row.everDelivered) {
      await dropExtension(tx, vmId, row.name);
      continue;
    }
    waiting += 1;
    if (row.state !== 'uninstall') await markUninstall(tx, ctx, row);
  }
  if (waiting > 0) await publishGoalState(tx, ctx, head, { action: 'vm.decommission' });
  return waiting;
}
