import { inArray } from 'drizzle-orm';
import { auditEntries, type ChainFault } from '#db/schema/index.ts';
import type { ChainReader } from './chain.ts';
import type { AcceptedFault, KeptHead } from './kept-head.ts';
import { linkOf } from './seal.ts';

/** Returns the faults that were not accepted. If an accepted row was changed again, its fault counts as new. */
export async function openFaults(
  reader: ChainReader,
  faults: readonly ChainFault[],
  kept: KeptHead | null,
): Promise<ChainFault[]> {
  const accepted = new Set((kept?.accepted?.faults ?? []).map(keyOf));
  if (accepted.size === 0) return [...faults];
  const now = await withDigests(reader, faults);
  return faults.filter((_, index) => !accepted.has(keyOf(now[index] as AcceptedFault)));
}

/** Adds to each fault a keyed digest of its row, so that acceptance does not cover later changes to the row. */
export async function withDigests({ db, keys }: ChainReader, faults: readonly ChainFault[]): Promise<AcceptedFault[]> {
  const ids = faults.flatMap(({ id }) => (id === null ? [] : [id]));
  const digests = new Map<number, string>();
  for (let from = 0; from < ids.length; from += 1_000) {
    const some = inArray(auditEntries.id, ids.slice(from, from + 1_000));
    for (const row of await db.select().from(auditEntries).where(some)) {
      digests.set(row.id, linkOf(keys.audit, row.hash ?? '', row.position ?? 0, row));
    }
  }
  return faults.map((fault) => ({ ...fault, row: (fault.id === null ? null : digests.get(fault.id)) ?? null }));
}

const keyOf = ({ kind, id, position, row }: AcceptedFault): string => `${kind} ${id} ${position} ${row}`;
