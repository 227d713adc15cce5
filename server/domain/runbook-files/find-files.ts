import { inArray } from 'drizzle-orm';
import type { Database, Transaction } from '#db/client.ts';
import { runbookFiles } from '#db/schema/index.ts';
import type { RunbookFileRow } from './runbook-file.ts';

/**
 * Returns the current contents of files by their ids. Unknown ids are absent. With `keep`, no one can replace or delete
 * the files until the commit.
 */
export async function findRunbookFiles(
  db: Database | Transaction,
  ids: readonly string[],
  { keep = false } = {},
): Promise<Map<string, RunbookFileRow>> {
  if (ids.length === 0) return new Map();
  const found = inArray(runbookFiles.id, [...ids]);
  const query = db.select().from(runbookFiles).where(found).orderBy(runbookFiles.id);
  const rows = await (keep ? query.for('share') : query);
  return new Map(rows.map((row) => [row.id, row]));
}
