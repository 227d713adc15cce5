import type { Transaction } from '#db/client.ts';
import { extensionLatest, extensionPulse } from '#db/schema/index.ts';

/** Creates the rows for a new extension's reports, because the batch statement only updates rows. */
export async function expectReports(tx: Transaction, vmId: string, name: string): Promise<void> {
  await tx.insert(extensionPulse).values({ vmId, name });
  await tx.insert(extensionLatest).values({ vmId, name });
}
