import { eq } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { agentPresence, agents, enrollmentTokens } from '#db/schema/index.ts';

/**
 * Deletes the presence of a VM's agent. A separate function, because some callers lock the presence before the head of
 * the goal state, and some lock the head first.
 */
export async function deletePresence(tx: Transaction, vmId: string): Promise<void> {
  await tx.delete(agentPresence).where(eq(agentPresence.vmId, vmId));
}

/** Removes the agent of a deleted VM and its enrollment tokens. */
export async function removeAgent(tx: Transaction, vmId: string): Promise<void> {
  await tx.delete(agents).where(eq(agents.vmId, vmId));
  await tx.delete(enrollmentTokens).where(eq(enrollmentTokens.vmId, vmId));
}
