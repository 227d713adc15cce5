import { eq } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { affinityGroups, storageAccounts } from '#db/schema/index.ts';
import { affinityGroupName } from '#server/domain/topology-rules/names.ts';

/** Reads what the bootstrap of a model would find. */
export async function readPlace(
  tx: Transaction,
  { name, storageAccount }: { name: string; storageAccount: string },
): Promise<{ hasStorageAccount: boolean; affinityGroup: { location: string } | null }> {
  const [account] = await tx.select().from(storageAccounts).where(eq(storageAccounts.name, storageAccount));
  const [group] = await tx
    .select({ location: affinityGroups.location })
    .from(affinityGroups)
    .where(eq(affinityGroups.name, affinityGroupName(name)));
  return { hasStorageAccount: account !== undefined, affinityGroup: group ?? null };
}
