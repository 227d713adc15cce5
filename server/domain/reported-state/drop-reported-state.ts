import { eq } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { agentProblems, pendingRestarts } from '#db/schema/index.ts';

/**
 * Deletes what the agent of a deleted VM reported, except the rows of its extensions, which are deleted together with
 * the extensions.
 */
export async function dropReportedState(tx: Transaction, vmId: string): Promise<void> {
  await tx.delete(agentProblems).where(eq(agentProblems.vmId, vmId));
  await tx.delete(pendingRestarts).where(eq(pendingRestarts.vmId, vmId));
}
