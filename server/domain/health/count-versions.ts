import { sql } from 'drizzle-orm';
import type { Services } from '#server/domain/context.ts';

/** A pass begins so many milliseconds after the last one began. */
const everyMs = 5 * 60_000;
/** Extensions of one step: some ten milliseconds of a core. */
const stepExtensions = 5_000;
/** Before the first VM. */
const start = '00000000-0000-0000-0000-000000000000';

/** What a pass counted so far. */
interface Pass {
  /** Within the hour that it counts. */
  at: Date;
  /** The last VM that was counted. */
  after: string;
  counts: Map<string, Count>;
}

interface Count {
  handler: string;
  version: string;
  vms: number;
  failed: number;
}

const passAt = (at: Date): Pass => ({ at, after: start, counts: new Map() });

/**
 * Counts the VMs of every handler version for the hour that it is; again within the hour, the newest count stands.
 * A version that the last VM left is counted once more, as none. Returns how many versions were counted.
 */
export async function countVersions(
  { db }: Pick<Services, 'db'>,
  now: Date,
  { step = stepExtensions }: { step?: number } = {},
): Promise<number> {
  const pass = passAt(now);
  while (await countOn(db, pass, step));
  return write(db, pass);
}

/**
 * The same by one step a call, so that the reports of a large fleet do not wait for a counting of all of it. Until it is
 * time for the next pass calls do nothing.
 */
export function createVersionCount(): (services: Services, now: Date) => Promise<number> {
  let pass: Pass | null = null;
  let next = 0;
  return async ({ db }, now) => {
    if (pass === null) {
      if (performance.now() < next) return 0;
      next = performance.now() + everyMs;
      pass = passAt(now);
    }
    if (await countOn(db, pass, stepExtensions)) return 0;
    const whole = pass;
    pass = null;
    return write(db, whole);
  };
}

/** Counts the next VMs, each with all of its extensions; false where that was the last of them. */
async function countOn(db: Services['db'], pass: Pass, step: number): Promise<boolean> {
  const { after, counts } = pass;
  const { rows } = await db.execute<Count & { till: string; is_last: boolean } & Record<string, unknown>>(sql`
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

async function write(db: Services['db'], { at, counts }: Pass): Promise<number> {
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
