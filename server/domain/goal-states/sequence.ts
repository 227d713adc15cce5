import { sql } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { extensionSequences } from '#db/schema/index.ts';

/**
 * The next sequence number of (VM, name): above every one that was used or reported, including those before an
 * uninstall (AZ-C4).
 */
export async function nextSequenceNumber(tx: Transaction, vmId: string, name: string): Promise<number> {
  const [row] = await tx
    .insert(extensionSequences)
    .values({ vmId, name, highest: 1 })
    .onConflictDoUpdate({
      target: [extensionSequences.vmId, extensionSequences.name],
      set: { highest: sql`${extensionSequences.highest} + 1` },
    })
    .returning();
  if (!row) throw new Error('a sequence number was neither inserted nor updated');
  return row.highest;
}

/** Maximum distance of a reported number from known ones, so that an agent cannot exhaust the numbers. */
const maxLead = 1_000_000;

/** Stores a number that an agent reports from before a restore, so that later ones are higher. */
export async function noteReportedSequence(
  tx: Transaction,
  vmId: string,
  name: string,
  reported: number,
): Promise<void> {
  await tx
    .insert(extensionSequences)
    .values({ vmId, name, highest: Math.min(reported, maxLead) })
    .onConflictDoUpdate({
      target: [extensionSequences.vmId, extensionSequences.name],
      set: { highest: sql`greatest(${extensionSequences.highest}, ${reported})` },
      setWhere: sql`${reported} <= ${extensionSequences.highest} + ${maxLead}`,
    });
}
