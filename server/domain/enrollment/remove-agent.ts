import { eq } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { agentPresence, agents, enrollmentTokens } from '#db/schema/index.ts';

/**
 * Forgets when the agent of a VM was seen. Its own verb because of the order of locks: presence comes before or after
 * the goal state's head, as the caller's transaction needs it.
 */
export async function forgetPresence(tx: Transaction, vmId: string): Promise<void> {
  await tx.delete(agentPresence).where(eq(agentPresence.vmId, vmId));
}

/** Removes the agent of a deleted VM and its enrollment tokens. */
export async function removeAgent(tx: Transaction, vmId: string): Promise<void> {
  await tx.delete(agents).where(eq(agents.vmId, vmId));
  await tx.delete(enrollmentTokens).where(eq(enrollmentTokens.vmId, vmId));
}
