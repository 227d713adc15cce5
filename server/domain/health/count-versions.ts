import { sql } from 'drizzle-orm';
import type { Services } from '#server/domain/context.ts';

/**
 * Counts the VMs of every handler version for the hour that it is; again within the hour, the newest count stands.
 * A version that the last VM left is counted once more, as none. Returns how many versions were counted.
 */
export async function countVersions({ db }: Pick<Services, 'db'>, now: Date): Promise<number> {
  const hour = sql`date_trunc('hour', ${now.toISOString()}::timestamptz, 'UTC')`;
  const counted = await db.execute(sql`
    insert into version_counts (handler, version, hour, vms, failed)
    select handler, version, ${hour}, coalesce(n.vms, 0), coalesce(n.failed, 0)
      from (
        select handler, version, count(*) as vms, count(*) filter (where failed) as failed from (
          -- In the order of the key: sorting a large fleet by handler takes twice as long.
          select vm_id, handler, goal_version as version, bool_or(health = 'failed') as failed
            from extension_health group by vm_id, handler, goal_version
        ) each_vm group by handler, version
      ) n
      full join (
        select distinct handler, version from version_counts
         where vms > 0 and hour between ${hour} - interval '1 hour' and ${hour}
      ) before using (handler, version)
    on conflict (handler, version, hour) do update set vms = excluded.vms, failed = excluded.failed`);
  return counted.rowCount ?? 0;
}
