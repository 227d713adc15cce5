import type { Transaction } from '#db/client.ts';
import { extensionLatest, extensionPulse } from '#db/schema/index.ts';

type LatestValues = Partial<Omit<typeof extensionLatest.$inferInsert, 'vmId' | 'name'>>;

/** Stores the fingerprints and readings of an extension's newest documents. */
export async function storePulse(tx: Transaction, pulse: typeof extensionPulse.$inferSelect): Promise<void> {
  const { vmId: _vmId, name: _name, ...values } = pulse;
  await tx
    .insert(extensionPulse)
    .values(pulse)
    .onConflictDoUpdate({ target: [extensionPulse.vmId, extensionPulse.name], set: values });
}

/** Stores the newest documents of an extension; columns for absent fields do not change. */
export async function storeLatest(tx: Transaction, vmId: string, name: string, values: LatestValues): Promise<void> {
  if (Object.keys(values).length === 0) return;
  await tx
    .insert(extensionLatest)
    .values({ vmId, name, ...values })
    .onConflictDoUpdate({ target: [extensionLatest.vmId, extensionLatest.name], set: values });
}
