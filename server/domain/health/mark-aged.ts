import { type SQL, sql } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { defaultPeriods } from '#protocol/index.ts';
import type { Services } from '#server/domain/context.ts';
import { graceSeconds, unresponsiveSeconds } from '#server/domain/reports/index.ts';

/** Any fixed number: of several workers one looks at a time. */
const lock = 4_266_399_005;
/** VMs of one transaction, so that a report of one of them does not wait for long. */
const batchVms = 2_000;
/** Of more VMs than these nobody remembers that they will age soon. */
const mostSoon = 20_000;

/** When a look looks for moments: after `since` (from the beginning where null), and not after `now`. */
export interface Look {
  since: Date | null;
  now: Date;
  /** At these VMs alone; at all where null. */
  among: readonly string[] | null;
}

export interface Looked {
  /** VMs that were marked. */
  marked: number;
  /**
   * The only VMs for which a moment can pass until `soonSeconds` from now, as long as nothing is reported that marks a
   * VM by itself; null where they are too many to remember.
   */
  soon: string[] | null;
}

/**
 * For so long a look sees ahead. Less than the grace: a report puts its moments off by at least that, so that none of
 * them comes sooner.
 */
export const soonSeconds = graceSeconds - 5;

/**
 * Has the health derived of VMs for which a moment of ageing passed that a report would have put off: an agent's
 * promise, a reading of a heartbeat or a status. Tables are read from one end to the other, which costs far less than
 * to follow a million moments that hardly ever come. Null where another worker looks.
 */
export async function markAged({ db }: Pick<Services, 'db'>, look: Look): Promise<Looked | null> {
  const found = await db.transaction(async (tx) => {
    const { rows } = await tx.execute<{ taken: boolean }>(sql`select pg_try_advisory_xact_lock(${lock}) as taken`);
    return rows[0]?.taken === true ? findAged(tx, look) : null;
  });
  if (found === null) return null;
  const { aged, soon } = found;
  for (let start = 0; start < aged.length; start += batchVms) {
    // Sorted, as everybody who marks several does.
    await db.execute(sql`
      with marked as materialized (
        select vm_id from health_checks where vm_id = any(${sql.param(aged.slice(start, start + batchVms))}::uuid[])
         order by vm_id for update
      )
      update health_checks h set due_at = 'epoch' from marked m where h.vm_id = m.vm_id`);
  }
  return { marked: aged.length, soon: soon.length > mostSoon ? null : soon };
}

/** Of a VM's own, or as it is usually, in seconds. */
interface Period {
  own: SQL;
  usual: number;
}

/** A stretch of time in which moments pass. */
interface Stretch {
  from: Date | null;
  to: Date;
}

/** Whether the moment so many seconds after this one passes in the stretch; of several numbers, perhaps. */
function passes(at: SQL, { from, to }: Stretch, shortest: number, longest = shortest): SQL {
  // As constants: a million rows are compared with them.
  const before = (end: Date, seconds: number): SQL =>
    sql`${new Date(end.getTime() - seconds * 1000).toISOString()}::timestamptz`;
  return from === null
    ? sql`${at} < ${before(to, shortest)}`
    : sql`(${at} < ${before(to, shortest)} and ${at} >= ${before(from, longest)})`;
}

async function findAged(tx: Transaction, { since, now, among }: Look): Promise<{ aged: string[]; soon: string[] }> {
  const past: Stretch = { from: since, to: now };
  const coming: Stretch = { from: now, to: new Date(now.getTime() + soonSeconds * 1000) };
  const both: Stretch = { from: since, to: coming.to };
  const where = among === null ? sql`true` : sql`vm_id = any(${sql.param(among)}::uuid[])`;
  // Not by parallel workers: nobody waits, and cores are there for reports.
  await tx.execute(sql`set local max_parallel_workers_per_gather = 0`);

  const due: Record<'heartbeat' | 'status', Period> = {
    heartbeat: { own: sql`heartbeat_seconds`, usual: defaultPeriods.heartbeatSeconds },
    status: { own: sql`status_seconds`, usual: defaultPeriods.statusSeconds },
  };
  const range = ({ own, usual }: Period): SQL => sql`
    array[least(min(${own}), ${usual}::int) + ${graceSeconds}::int, greatest(max(${own}), ${usual}::int) + ${graceSeconds}::int]`;
  const agentPasses = (stretch: Stretch): SQL =>
    sql`(${passes(sql`next_expected_at`, stretch, graceSeconds)} or ${passes(sql`last_seen_at`, stretch, unresponsiveSeconds)})`;
  const agents = await tx.execute<{
    heartbeat: [number, number];
    status: [number, number];
    aged: string[] | null;
    soon: string[] | null;
  }>(sql`
    select ${range(due.heartbeat)} as heartbeat, ${range(due.status)} as status,
      array_agg(vm_id::text) filter (where ${agentPasses(past)}) as aged,
      array_agg(vm_id::text) filter (where ${agentPasses(coming)}) as soon
    from agent_presence where ${where}`);
  const { heartbeat, status, aged, soon } = agents.rows[0] ?? { heartbeat: [0, 0], status: [0, 0], aged: [], soon: [] };

  const ofOwn = (at: SQL, stretch: Stretch, seconds: SQL): SQL =>
    passes(sql`${at} + make_interval(secs => ${seconds})`, stretch, 0);
  const own = ({ own: period, usual }: Period): SQL => sql`coalesce(${period}, ${usual}) + ${graceSeconds}`;
  const untilOld = sql`${unresponsiveSeconds} - heartbeat_age_seconds`;
  const readingPasses = (stretch: Stretch): SQL => sql`(
    (is_old and ${ofOwn(sql`heartbeat_read_at`, stretch, untilOld)})
    or (is_late and ${ofOwn(sql`heartbeat_read_at`, stretch, own(due.heartbeat))})
    or (is_stale and ${ofOwn(sql`status_read_at`, stretch, own(due.status))}))`;
  // What its own agent promised is asked of those alone that are late by the promise of any.
  const readings = await tx.execute<{ vm_id: string; aged: boolean; soon: boolean }>(sql`
    select vm_id, bool_or(${readingPasses(past)}) as aged, bool_or(${readingPasses(coming)}) as soon from (
      select vm_id, heartbeat_read_at, heartbeat_age_seconds, status_read_at,
        ((heartbeat_age_seconds > ${unresponsiveSeconds - heartbeat[0]}
            or ${passes(sql`heartbeat_read_at`, { from: null, to: both.to }, heartbeat[0])})
          and ${ofOwn(sql`heartbeat_read_at`, both, untilOld)}) as is_old,
        ${passes(sql`heartbeat_read_at`, both, ...heartbeat)} as is_late,
        (${passes(sql`status_read_at`, both, ...status)} and status_word in ('warning', 'transitioning')) as is_stale
      from extension_pulse where ${where}
    ) e left join lateral (
      select heartbeat_seconds, status_seconds from agent_presence p where p.vm_id = e.vm_id offset 0
    ) p on true
    where is_old or is_late or is_stale
    group by vm_id`);
  const those = (which: 'aged' | 'soon'): string[] => readings.rows.flatMap((row) => (row[which] ? [row.vm_id] : []));
  return {
    aged: [...new Set([...(aged ?? []), ...those('aged')])].sort(),
    soon: [...new Set([...(soon ?? []), ...those('soon')])],
  };
}
