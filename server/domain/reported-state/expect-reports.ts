import type { Transaction } from '#db/client.ts';
import { extensionLatest, extensionPulse } from '#db/schema/index.ts';

/** Creates the rows of a new extension, because the batch statement only updates. */
export async function expectReports(tx: Transaction, vmId: string, name: string): Promise<void> {
  await tx.insert(extensionPulse).values({ vmId, name });
  await tx.insert(extensionLatest).values({ vmId, name });
}
