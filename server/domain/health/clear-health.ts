import { sql } from 'drizzle-orm';
import type { Services } from '#server/domain/context.ts';

const dayMs = 24 * 60 * 60_000;
/** Maximum number of rows that one statement deletes, so that no statement times out. */
const atOnce = 20_000;
const hourlyDays = 14;

/** Deletes old health transitions, and thins out the hourly version counts. Returns the number of deleted rows. */
export async function clearHealth(services: Services, now: Date): Promise<number> {
  const before = (days: number): string => new Date(now.getTime() - days * dayMs).toISOString();
  const { health, counts: daily } = services.config.keptDays;
  const transitions = await clearTransitions(services, before(health));
  // Keeps the last counted hour of each day. It is the same hour for all versions of a handler, so a version without a
  // row for that hour had no VMs then.
  const counts = await services.db.execute(sql`
    delete from version_counts v using (
      select handler, date_trunc('day', hour, 'UTC') as day, max(hour) as kept from version_counts
       where hour < ${before(hourlyDays)} group by 1, 2
    ) d
    where v.handler = d.handler and date_trunc('day', v.hour, 'UTC') = d.day and v.hour < ${before(hourlyDays)}
      and (v.hour <> d.kept or v.hour < ${before(daily)})`);
  return transitions + (counts.rowCount ?? 0);
}

/** Ids increase with time, so the oldest rows can be found without an index on the time. */
async function clearTransitions({ db }: Services, before: string): Promise<number> {
  for (let total = 0; ; ) {
    const removed = await db.execute(sql`
      delete from health_transitions where id in (select id from health_transitions order by id limit ${atOnce})
         and at < ${before}`);
    total += removed.rowCount ?? 0;
    if ((removed.rowCount ?? 0) < atOnce) return total;
  }
}
