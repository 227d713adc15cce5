import { eq } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { stockAgents } from '#db/schema/index.ts';

/**
 * Removes the tenant key, the sightings and the observations of a VM's stock agent, but not its token, which is in
 * `agents`.
 */
export async function dropStockAgent(tx: Transaction, vmId: string): Promise<void> {
  await tx.delete(stockAgents).where(eq(stockAgents.vmId, vmId));
}
