import { eq } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { agentPresence } from '#db/schema/index.ts';

/**
 * Forgets when the agent of a VM was seen. Its own verb because of the order of locks: presence comes before or after
 * the goal state's head, as the caller's transaction needs it.
 */
export async function forgetPresence(tx: Transaction, vmId: string): Promise<void> {
  await tx.delete(agentPresence).where(eq(agentPresence.vmId, vmId));
}
