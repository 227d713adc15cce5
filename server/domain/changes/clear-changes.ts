import { lt } from 'drizzle-orm';
import { changes } from '#db/schema/changes.ts';
import type { Services } from '#server/domain/context.ts';

/** A screen that was away for longer reads all its data again. */
const keptMs = 60 * 60_000;

/** Removes hints that every open screen has received by now. */
export async function clearChanges({ db }: Services, now: Date): Promise<number> {
  const removed = await db.delete(changes).where(lt(changes.at, new Date(now.getTime() - keptMs)));
  return removed.rowCount ?? 0;
}
