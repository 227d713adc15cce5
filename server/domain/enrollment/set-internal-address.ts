import { eq } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { agents } from '#db/schema/index.ts';

/** Stores the address of a VM's machine in the network of its model; null if the VM belongs to no model. */
export async function setInternalAddress(tx: Transaction, vmId: string, internalAddress: string | null): Promise<void> {
  await tx.update(agents).set({ internalAddress }).where(eq(agents.vmId, vmId));
}
