import { eq } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { pendingRestarts } from '#db/schema/index.ts';
import type { RestartRequestEntry } from '#protocol/index.ts';

/** Stores which handlers request a restart of the machine; an empty list means none. */
export async function notePendingRestart(
  tx: Transaction,
  vmId: string,
  entries: readonly RestartRequestEntry[],
  receivedAt: Date,
): Promise<void> {
  const requests = entries
    .map(({ requestedSecondsAgo, ...request }) => ({
      ...request,
      since: new Date(receivedAt.getTime() - requestedSecondsAgo * 1000).toISOString(),
    }))
    .toSorted((a, b) => a.since.localeCompare(b.since));
  const [oldest] = requests;
  if (oldest === undefined) {
    await clearPendingRestart(tx, vmId);
    return;
  }
  const values = { since: new Date(oldest.since), requests };
  await tx
    .insert(pendingRestarts)
    .values({ vmId, ...values })
    .onConflictDoUpdate({ target: pendingRestarts.vmId, set: values });
}

/** Deletes the restart requests of a VM, for example because its new machine has requested nothing yet. */
export async function clearPendingRestart(tx: Transaction, vmId: string): Promise<void> {
  await tx.delete(pendingRestarts).where(eq(pendingRestarts.vmId, vmId));
}
