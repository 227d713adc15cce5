import { type SQL, sql } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { defaultPeriods } from '#protocol/index.ts';
import type { Services } from '#server/domain/context.ts';
import { graceSeconds, unresponsiveSeconds } from '#server/domain/reports/index.ts';

/** Any fixed number: of several workers one looks at a time. */
const lock = 4_266_399_005;
/** VMs of one transaction, so that a report of one of them does not wait for long. */
const batchVms = 2_000;

/**
 * Has the health derived of VMs for which a moment of ageing passed between `since` (at any time where null) and `now`
 * that a report would have put off: an agent's promise, a reading of a heartbeat or a status. Tables are read from one
 * end to the other, which costs far less than to follow a million moments that hardly ever come. Null where another
 * worker looks; else how many VMs.
 */
export async function markAged({ db }: Pick<Services, 'db'>, since: Date | null, now: Date): Promise<number | null> {
  const vmIds = await db.transaction(async (tx) => {
    const { rows } = await tx.execute<{ taken: boolean }>(sql`select pg_try_advisory_xact_lock(${lock}) as taken`);
    return rows[0]?.taken === true ? findAged(tx, since, now) : null;
  });
  if (vmIds === null) return null;
  for (let start = 0; start < vmIds.length; start += batchVms) {
    // Sorted, as everybody who marks several does.
    await db.execute(sql`
      with marked as materialized (
        select vm_id from health_checks where vm_id = any(${sql.param(vmIds.slice(start, start + batchVms))}::uuid[])
         order by vm_id for update
      )
      update health_checks h set due_at = 'epoch' from marked m where h.vm_id = m.vm_id`);
  }
  return vmIds.length;
}

async function findAged(tx: Transaction, since: Date | null, now: Date): Promise<string[]> {
  // Not by parallel workers: nobody waits, and cores are there for reports.
  await tx.execute(sql`set local max_parallel_workers_per_gather = 0`);
  // As constants: a million rows are compared with them.
  const before = (end: Date, seconds: number): SQL =>
    sql`${new Date(end.getTime() - seconds * 1000).toISOString()}::timestamptz`;
  /** Whether the moment so many seconds after this one passed meanwhile; of several numbers, perhaps. */
  const passed = (from: SQL, shortest: number, longest = shortest): SQL =>
    since === null
      ? sql`${from} < ${before(now, shortest)}`
      : sql`(${from} < ${before(now, shortest)} and ${from} >= ${before(since, longest)})`;
  /** The same where each row has seconds of its own. */
  const passedBy = (from: SQL, seconds: SQL): SQL => passed(sql`${from} + make_interval(secs => ${seconds})`, 0);

  const ofHeartbeat = sql`coalesce(heartbeat_seconds, ${defaultPeriods.heartbeatSeconds}) + ${graceSeconds}`;
  const ofStatus = sql`coalesce(status_seconds, ${defaultPeriods.statusSeconds}) + ${graceSeconds}`;
  const agents = await tx.execute<{ aged: string[] | null; heartbeat: number[]; status: number[] }>(sql`
    select array[min(${ofHeartbeat}), max(${ofHeartbeat})] as heartbeat,
      array[min(${ofStatus}), max(${ofStatus})] as status,
      array_agg(vm_id::text) filter (where ${passed(sql`next_expected_at`, graceSeconds)}
        or ${passed(sql`last_seen_at`, unresponsiveSeconds)}) as aged
    from agent_presence`);
  const { aged = null, heartbeat = [], status = [] } = agents.rows[0] ?? {};
  const [shortest = 0, longest = shortest] = heartbeat;
  const [shortestStatus = 0, longestStatus = shortestStatus] = status;
  // What its own agent promised is asked of those alone that are late by the promise of any.
  const readings = await tx.execute<{ vm_id: string }>(sql`
    select distinct e.vm_id from (
      select vm_id, heartbeat_read_at, status_read_at,
        ((heartbeat_age_seconds > ${unresponsiveSeconds - shortest} or heartbeat_read_at < ${before(now, shortest)})
          and ${passedBy(sql`heartbeat_read_at`, sql`${unresponsiveSeconds} - heartbeat_age_seconds`)}) as is_old,
        ${passed(sql`heartbeat_read_at`, shortest, longest)} as is_late,
        (${passed(sql`status_read_at`, shortestStatus, longestStatus)} and ${isOpen}) as is_stale
      from extension_pulse
    ) e left join lateral (
      select heartbeat_seconds, status_seconds from agent_presence where vm_id = e.vm_id offset 0
    ) p on true
    where (is_old or is_late or is_stale) and (is_old
      or (is_late and ${passedBy(sql`heartbeat_read_at`, ofHeartbeat)})
      or (is_stale and ${passedBy(sql`status_read_at`, ofStatus)}))`);
  return [...new Set([...(aged ?? []), ...readings.rows.map((row) => row.vm_id)])].sort();
}

/** What a success or an error says stays so, however old it is. */
const isOpen = sql`status_word in ('warning', 'transitioning')`;
