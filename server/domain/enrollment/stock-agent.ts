import { and, eq } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { agents } from '#db/schema/index.ts';
import type { SealingCertificate } from '#server/platform/cms.ts';

/** How a stock agent is identified: the hash of its forwarder token, and the certificate of its tenant key. */
interface StockIdentity {
  vmId: string;
  credentialHash: string;
  certificate: SealingCertificate;
  enrolledAt: Date;
}

const isStock = (vmId: string) => and(eq(agents.vmId, vmId), eq(agents.kind, 'stock'));

const keyColumns = ({ pem, thumbprint, keyHash }: SealingCertificate) => ({ certificate: pem, thumbprint, keyHash });

/** Adds a stock agent to a VM. Returns false if the VM already has an agent. */
export async function insertStockAgent(tx: Transaction, { certificate, ...identity }: StockIdentity): Promise<boolean> {
  // The real version and system arrive with the agent's first status.
  const machine = { name: 'WALinuxAgent', version: '', os: {}, kind: 'stock' as const };
  const inserted = await tx
    .insert(agents)
    .values({ ...identity, ...keyColumns(certificate), ...machine })
    .onConflictDoNothing()
    .returning({ vmId: agents.vmId });
  return inserted.length > 0;
}

/** Replaces the credential and the key of a VM's stock agent. */
export async function replaceStockAgent(
  tx: Transaction,
  { vmId, certificate, ...identity }: StockIdentity,
): Promise<void> {
  await tx
    .update(agents)
    .set({ ...identity, ...keyColumns(certificate), duplicateSeenAt: null })
    .where(isStock(vmId));
}

/** Replaces the key of a VM's stock agent, and keeps its credential. */
export async function replaceStockKey(tx: Transaction, vmId: string, certificate: SealingCertificate): Promise<void> {
  await tx.update(agents).set(keyColumns(certificate)).where(isStock(vmId));
}

/** Stores the version and the system that a stock agent reports. */
export async function describeStockAgent(
  tx: Transaction,
  vmId: string,
  { version, os }: Pick<typeof agents.$inferInsert, 'version' | 'os'>,
): Promise<void> {
  await tx.update(agents).set({ version, os }).where(isStock(vmId));
}

/** Removes the stock agent of a VM. Returns the thumbprint of its certificate; null if the VM had none. */
export async function removeStockAgent(tx: Transaction, vmId: string): Promise<string | null> {
  const [removed] = await tx.delete(agents).where(isStock(vmId)).returning({ thumbprint: agents.thumbprint });
  return removed?.thumbprint ?? null;
}
