import { and, eq } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { goalStateHeads, goalStates } from '#db/schema/index.ts';
import type { Head } from './publish.ts';

/** The first goal state of every VM, which has no extensions. */
const emptyIncarnation = 1;

/**
 * Stops delivering new goal states: until `handOut`, a reference agent gets the last delivered goal state, or the empty
 * goal state if none was delivered. The caller holds the head's lock.
 */
export async function withhold(tx: Transaction, { vmId, deliveredIncarnation }: Head): Promise<void> {
  await withholdAfter(tx, vmId, Math.max(deliveredIncarnation, emptyIncarnation));
}

/** Ends `withhold`: the agent gets the current goal state again. The caller holds the head's lock. */
export async function handOut(tx: Transaction, vmId: string): Promise<void> {
  await tx.update(goalStateHeads).set({ heldIncarnation: null, heldEtag: null }).where(eq(goalStateHeads.vmId, vmId));
}

/** Records that the VM has a different machine now, so that deliveries to the former machine do not count. */
export async function forgetDelivery(tx: Transaction, { vmId, heldIncarnation }: Head): Promise<void> {
  await tx
    .update(goalStateHeads)
    .set({ deliveredIncarnation: 0, deliveredAt: null })
    .where(eq(goalStateHeads.vmId, vmId));
  if (heldIncarnation !== null) await withholdAfter(tx, vmId, emptyIncarnation);
}

async function withholdAfter(tx: Transaction, vmId: string, incarnation: number): Promise<void> {
  const [kept] = await tx
    .select({ etag: goalStates.etag })
    .from(goalStates)
    .where(and(eq(goalStates.vmId, vmId), eq(goalStates.incarnation, incarnation)));
  if (kept === undefined) throw new Error(`goal state ${incarnation} is not in the history`);
  await tx
    .update(goalStateHeads)
    .set({ heldIncarnation: incarnation, heldEtag: kept.etag })
    .where(eq(goalStateHeads.vmId, vmId));
}
