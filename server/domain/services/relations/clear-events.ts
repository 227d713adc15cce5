import { sql } from 'drizzle-orm';
import type { Services } from '#server/domain/context.ts';

const dayMs = 24 * 60 * 60_000;
const atOnce = 10_000;

/**
 * Deletes events of relations that are older than this many days, and returns their number. Departures are kept,
 * because they tell which units took part.
 */
export async function clearRelationEvents({ db }: Pick<Services, 'db'>, now: Date, days: number): Promise<number> {
  const until = new Date(now.getTime() - days * dayMs).toISOString();
  for (let total = 0; ; ) {
    const { rowCount } = await db.execute(sql`
      delete from relation_log l using (
        select relation_id, clock from relation_log
         where at < ${until}::timestamptz and kind <> 'left' order by at limit ${atOnce}) old
       where l.relation_id = old.relation_id and l.clock = old.clock`);
    total += rowCount ?? 0;
    if ((rowCount ?? 0) < atOnce) return total;
  }
}
