import { lt } from 'drizzle-orm';
import { changes } from '#db/schema/changes.ts';
import type { Services } from '#server/domain/context.ts';

/**
 * How long changes are kept, in milliseconds. Pages are notified of changes and never read the rows, so they do not
 * depend on this time.
 */
const keptMs = 60 * 60_000;

/** Deletes changes that are older than an hour. Returns the count. */
export async function clearChanges({ db }: Services, now: Date): Promise<number> {
  const removed = await db.delete(changes).where(lt(changes.at, new Date(now.getTime() - keptMs)));
  return removed.rowCount ?? 0;
}
