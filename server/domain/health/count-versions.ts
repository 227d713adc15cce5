import { sql } from 'drizzle-orm';
import type { Services } from '#server/domain/context.ts';

/** Extensions per step; a step takes tens of milliseconds on one core. */
const stepExtensions = 5_000;
/** Precedes the id of every VM. */
const start = '00000000-0000-0000-0000-000000000000';

/** A pass over all VMs, with the counts so far. */
export interface VersionPass {
  /** A time within the hour for which VMs are counted. */
  at: Date;
  /** Id of the last VM counted. */
  after: string;
  counts: Map<string, VersionCount>;
}

export interface VersionCount {
  handler: string;
  version: string;
  vms: number;
  failed: number;
}

/** Starts a pass for the hour that contains `at`. */
export const passAt = (at: Date): VersionPass => ({ at, after: start, counts: new Map() });

/**
 * Counts the VMs of every handler version for the current hour. A later count within the hour replaces the earlier
 * count. When no VM has a version anymore, 0 is stored once. Returns the number of versions.
 */
export async function countVersions(
  { db }: Pick<Services, 'db'>,
  now: Date,
  { step = stepExtensions }: { step?: number } = {},
): Promise<number> {
  const pass = passAt(now);
  while (await countNextVms(db, pass, step));
  return writeVersionCounts(db, pass);
}

/** Counts the next VMs, each with all of its extensions. Returns false after the last VM. */
export async function countNextVms(db: Services['db'], pass: VersionPass, step = stepExtensions): Promise<boolean> {
  const { after, counts } = pass;
  const { rows } = await db.execute<VersionCount & { till: string; is_last: boolean } & Record<string, unknown>>(sql`
    with next as materialized (
      select vm_id from extension_health where vm_id > ${after}::uuid order by vm_id, name limit ${step}
    ), till as materialized (
      select vm_id, (select count(*) from next) < ${step} as is_last from next order by vm_id desc limit 1
    )
    select handler, version, count(*)::int as vms, (count(*) filter (where failed))::int as failed,
      (select vm_id::text from till) as till, (select is_last from till) as is_last
      from (
        select vm_id, handler, goal_version as version, bool_or(health = 'failed') as failed from extension_health
         where vm_id > ${after}::uuid and vm_id <= (select vm_id from till) group by vm_id, handler, goal_version
      ) each_vm group by handler, version`);
  for (const { handler, version, vms, failed } of rows) {
    const key = JSON.stringify([handler, version]);
    const before = counts.get(key);
    counts.set(key, { handler, version, vms: (before?.vms ?? 0) + vms, failed: (before?.failed ?? 0) + failed });
  }
  const [row] = rows;
  if (row !== undefined) pass.after = row.till;
  return row?.is_last === false;
}

/** Stores the counts of a finished pass. Returns the number of versions. */
export async function writeVersionCounts(db: Services['db'], { at, counts }: VersionPass): Promise<number> {
  const hour = sql`date_trunc('hour', ${at.toISOString()}::timestamptz, 'UTC')`;
  const counted = await db.execute(sql`
    insert into version_counts (handler, version, hour, vms, failed)
    select handler, version, ${hour}, coalesce(n.vms, 0), coalesce(n.failed, 0)
      from json_to_recordset(${JSON.stringify([...counts.values()])}::json)
        as n (handler text, version text, vms int, failed int)
      full join (
        select distinct handler, version from version_counts
         where vms > 0 and hour between ${hour} - interval '1 hour' and ${hour}
      ) before using (handler, version)
    on conflict (handler, version, hour) do update set vms = excluded.vms, failed = excluded.failed`);
  return counted.rowCount ?? 0;
}
