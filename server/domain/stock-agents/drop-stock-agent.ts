import { eq } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { stockAgents } from '#db/schema/index.ts';

/** Removes the token, the tenant key and the observations of a VM's stock agent. */
export async function dropStockAgent(tx: Transaction, vmId: string): Promise<void> {
  await tx.delete(stockAgents).where(eq(stockAgents.vmId, vmId));
}
