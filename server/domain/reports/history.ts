import { isDeepStrictEqual } from 'node:util';
import { and, desc, eq, inArray } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { reportHistory } from '#db/schema/index.ts';
import type { ReportEntry } from './entries/index.ts';

export interface HistoryEntry {
  entry: ReportEntry;
  /** Whether the entry is shown; otherwise it is only stored. */
  current: boolean;
}

/**
 * Stores entries as they were sent. Skips a late entry that, apart from its ages, equals the last stored entry of the
 * same extension, kind and sequence number.
 */
export async function writeHistory(tx: Transaction, vmId: string, at: Date, entries: HistoryEntry[]): Promise<void> {
  const kept = await loadLate(tx, vmId, entries);
  const rows = entries
    .filter(({ entry, current }) => current || !kept.some((row) => isSame(row, entry)))
    .map(({ entry, current }) => {
      const { kind, name: extension, sequenceNumber, raw: document } = entry;
      return { vmId, at, kind, extension, sequenceNumber, current, document };
    });
  if (rows.length > 0) await tx.insert(reportHistory).values(rows);
}

type Kept = Pick<typeof reportHistory.$inferSelect, 'kind' | 'extension' | 'sequenceNumber' | 'document'>;

/** Loads the last stored document of each kind and sequence number, for the extensions of late entries. */
async function loadLate(tx: Transaction, vmId: string, entries: HistoryEntry[]): Promise<Kept[]> {
  const late = entries.filter(({ current }) => !current).map(({ entry }) => entry);
  if (late.length === 0) return [];
  const { extension, kind, sequenceNumber, document, at, id } = reportHistory;
  return tx
    .selectDistinctOn([extension, kind, sequenceNumber], { extension, kind, sequenceNumber, document })
    .from(reportHistory)
    .where(and(eq(reportHistory.vmId, vmId), inArray(extension, [...new Set(late.map(({ name }) => name))])))
    .orderBy(extension, kind, sequenceNumber, desc(at), desc(id));
}

function isSame(row: Kept, entry: ReportEntry): boolean {
  const place = row.kind === entry.kind && row.extension === entry.name && row.sequenceNumber === entry.sequenceNumber;
  return place && isDeepStrictEqual(withoutAges(row.document), withoutAges(entry.raw));
}

/** Returns a document without the fields that differ every time the document is sent. */
function withoutAges({ ageSeconds, readSecondsAgo, ...document }: Record<string, unknown>): unknown {
  return document;
}
