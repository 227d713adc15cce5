import { and, eq, inArray, sql } from 'drizzle-orm';
import type { Database, Transaction } from '#db/client.ts';
import { extensionSequences } from '#db/schema/index.ts';

/**
 * Returns the next sequence number for a VM and extension name: higher than every number that was used or reported,
 * even before an uninstall (AZ-C4).
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

/** Returns the next sequence numbers of several extensions, in their order. Runs one statement. */
export async function nextSequenceNumbers(
  tx: Transaction,
  of: readonly { vmId: string; name: string }[],
): Promise<number[]> {
  if (of.length === 0) return [];
  const vmIds = sql.param(of.map(({ vmId }) => vmId));
  const names = sql.param(of.map(({ name }) => name));
  const { rows } = await tx.execute<{ vm_id: string; name: string; highest: string }>(sql`
    insert into extension_sequences as s (vm_id, name, highest)
    select vm_id, name, 1 from unnest(${vmIds}::uuid[], ${names}::text[]) r(vm_id, name) order by vm_id, name
    on conflict (vm_id, name) do update set highest = s.highest + 1
    returning s.vm_id, s.name, s.highest`);
  const found = new Map(rows.map(({ vm_id, name, highest }) => [`${vm_id} ${name}`, Number(highest)]));
  return of.map(({ vmId, name }) => {
    const number = found.get(`${vmId} ${name}`);
    if (number === undefined) throw new Error('a sequence number was neither inserted nor updated');
    return number;
  });
}

/**
 * Maximum distance between a reported number and the highest known number, so that an agent cannot use up the numbers.
 */
const maxLead = 1_000_000;

/**
 * Stores a sequence number that an agent reports from before a database restore, so that later numbers are higher. A
 * number too far ahead of the highest known number is ignored; if no number is known for the name, at most `maxLead` is
 * stored.
 */
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

/**
 * Returns the next sequence number of each extension, without reserving it. A name that the VM never had is absent from
 * the result.
 */
export async function nextSequences(
  tx: Database | Transaction,
  vmId: string,
  names: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  if (names.length === 0) return new Map();
  const rows = await tx
    .select({ name: extensionSequences.name, highest: extensionSequences.highest })
    .from(extensionSequences)
    .where(and(eq(extensionSequences.vmId, vmId), inArray(extensionSequences.name, [...names])));
  return new Map(rows.map(({ name, highest }) => [name, highest + 1]));
}
