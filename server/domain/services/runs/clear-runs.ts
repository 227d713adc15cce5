import { sql } from 'drizzle-orm';
import type { Services } from '#server/domain/context.ts';

const dayMs = 24 * 60 * 60_000;
const atOnce = 10_000;
/** Number of runs that each unit keeps. */
const runsOfUnit = 1_000;

/**
 * Deletes runs of hooks that are older than this many days, and all but the last 1,000 of each unit. Keeps runs that
 * have not ended, and those that failed last. Returns the number of deleted runs.
 */
export async function clearRuns({ db }: Pick<Services, 'db'>, now: Date, days: number): Promise<number> {
  const until = new Date(now.getTime() - days * dayMs).toISOString();
  const { rowCount } = await db.execute(sql`
    delete from hook_runs r using (
      select o.vm_id, o.id from hook_runs o join units u on u.id = o.unit_id
       where (o.begun_at < ${until}::timestamptz or o.number <= u.run_counter - ${runsOfUnit}) and o.outcome <> 'running'
         and not exists (select from jsonb_each(u.failing) f where f.value ->> 'run' = o.id::text)
       order by o.begun_at limit ${atOnce}) old
     where r.vm_id = old.vm_id and r.id = old.id`);
  return rowCount ?? 0;
}
