import { lt } from 'drizzle-orm';
import { changes } from '#db/schema/changes.ts';
import type { Services } from '#server/domain/context.ts';

/** A page that was disconnected for longer reloads all its data. */
const keptMs = 60 * 60_000;

/** Deletes changes that every connected page has received by now. Returns the count. */
export async function clearChanges({ db }: Services, now: Date): Promise<number> {
  const removed = await db.delete(changes).where(lt(changes.at, new Date(now.getTime() - keptMs)));
  return removed.rowCount ?? 0;
}
