import { type SQL, sql } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { defaultPeriods } from '#protocol/index.ts';
import { markHealthChecksDue } from '#server/domain/changes/index.ts';
import type { Services } from '#server/domain/context.ts';
import { graceSeconds, unresponsiveSeconds } from '#server/domain/verdicts/index.ts';

/**
 * Id of an advisory lock, an arbitrary number. The lock ensures that only one worker scans the whole fleet at a time.
 */
const lock = 4_266_399_005;
/** VMs per transaction; few enough that no report waits long for the lock of a VM. */
const batchVms = 2_000;
/** Blocks of a table per step; a step takes about five milliseconds of CPU time. */
const stepBlocks = 512;
/** Maximum time planned for a step and the pause after it, in milliseconds. */
const stepMs = 50;
/** If more VMs than this are about to age, their ids are not kept. */
const maxSoon = 20_000;

/** The time range of a scan: after `since` (from the beginning if null), up to and including `now`. */
export interface AgeingScan {
  since: Date | null;
  now: Date;
  /** If set, only these VMs are scanned; null scans all. */
  among: readonly string[] | null;
}

/** How fast the whole fleet is scanned. */
export interface Pace {
  /** Milliseconds over which the scan may be spread, so that it hardly delays reports. */
  overMs: number;
  /** Waits between two steps. Throws to stop the scan early. */
  rest(ms: number): Promise<void>;
}

const withoutRest: Pace = { overMs: 0, rest: async () => {} };

export interface ScanResult {
  /** Number of marked VMs. */
  marked: number;
  /**
   * VMs whose health may change through time alone within `soonSeconds` of `now`; null if there are too many to keep.
   * Within these seconds, no other VM needs a check, unless a report marks it.
   */
  soon: string[] | null;
}

/**
 * Number of seconds that a scan looks ahead. It is less than the grace period: after a report, no call and no reading
 * can be overdue before the grace period has passed.
 */
export const soonSeconds = graceSeconds - 5;

/**
 * Marks VMs whose health may have changed without a report, for example because an announced call, or the next reading
 * of a heartbeat or status, is overdue. Reading the tables sequentially costs far less than tracking a million due
 * times, most of which are postponed before they are reached. A row written during the scan may be missed, but its
 * agent has just reported. A scan of the whole fleet returns null if another worker is already scanning.
 */
export async function markAged(
  { db }: Pick<Services, 'db'>,
  scan: AgeingScan,
  pace: Pace = withoutRest,
): Promise<ScanResult | null> {
  const found = await db.transaction(async (tx) => {
    if (scan.among === null) {
      const { rows } = await tx.execute<{ taken: boolean }>(sql`select pg_try_advisory_xact_lock(${lock}) as taken`);
      if (rows[0]?.taken !== true) return null;
    }
    return findAged(tx, scan, pace);
  });
  if (found === null) return null;
  const aged = [...found.aged].sort();
  for (let start = 0; start < aged.length; start += batchVms) {
    await markHealthChecksDue({ db }, aged.slice(start, start + batchVms));
  }
  return { marked: aged.length, soon: found.soon.size > maxSoon ? null : [...found.soon] };
}

/** A period in seconds: `own` is the VM's value, and `usual` is the default if the VM has none. */
interface Period {
  own: SQL;
  usual: number;
}

/** A time range; `from` is null if it has no beginning. */
interface Stretch {
  from: Date | null;
  to: Date;
}

/**
 * SQL for whether the time `shortest` seconds after `at` is in the range or, with `longest`, whether any time from
 * `shortest` to `longest` seconds after `at` is in the range.
 */
function passes(at: SQL, { from, to }: Stretch, shortest: number, longest = shortest): SQL {
  // Computed in this process, so that a million rows are compared with constants.
  const before = (end: Date, seconds: number): SQL =>
    sql`${new Date(end.getTime() - seconds * 1000).toISOString()}::timestamptz`;
  return from === null
    ? sql`${at} < ${before(to, shortest)}`
    : sql`(${at} < ${before(to, shortest)} and ${at} >= ${before(from, longest)})`;
}

/** VMs that have aged, and VMs that are about to age. */
interface Found {
  aged: Set<string>;
  soon: Set<string>;
}

/** The shortest and the longest announced period of any agent, in seconds. */
type Range = [shortest: number, longest: number];

async function findAged(tx: Transaction, scan: AgeingScan, pace: Pace): Promise<Found> {
  // Disables parallel workers, because a scan is not urgent and reports need the cores.
  await tx.execute(sql`set local max_parallel_workers_per_gather = 0`);
  const { rows } = await tx.execute<{ agents: number; readings: number }>(sql`
    select pg_relation_size('agent_presence') / current_setting('block_size')::int as agents,
      pg_relation_size('extension_pulse') / current_setting('block_size')::int as readings`);
  const [agents, readings] = [stepsOf(scan, rows[0]?.agents), stepsOf(scan, rows[0]?.readings)];
  const rests = agents.length + readings.length - 2;
  const [began, stretchMs] = [performance.now(), Math.min(stepMs, pace.overMs / Math.max(1, rests))];
  const rest = async (steps: number): Promise<void> => {
    const ms = began + steps * stretchMs - performance.now();
    await pace.rest(steps <= rests ? Math.max(0, ms) : 0);
  };

  const found: Found = { aged: new Set(), soon: new Set() };
  const heartbeat: Range = [defaultPeriods.heartbeatSeconds, defaultPeriods.heartbeatSeconds];
  const status: Range = [defaultPeriods.statusSeconds, defaultPeriods.statusSeconds];
  for (const [index, where] of agents.entries()) {
    const seen = await scanAgents(tx, stretches(scan, found), where);
    widen(heartbeat, seen.heartbeat);
    widen(status, seen.status);
    take(found, seen);
    await rest(index + 1);
  }
  for (const [index, where] of readings.entries()) {
    take(found, await scanReadings(tx, stretches(scan, found), where, { heartbeat, status }));
    await rest(agents.length + index + 1);
  }
  return found;
}

/**
 * Splits a table of this many blocks into conditions, one per step. The last condition includes blocks that are added
 * during the scan. A scan of selected VMs has a single step.
 */
function stepsOf({ among }: AgeingScan, blocks: string | number = 0): SQL[] {
  if (among !== null) return [sql`vm_id = any(${sql.param(among)}::uuid[])`];
  const steps = Math.max(1, Math.ceil(Number(blocks) / stepBlocks));
  const place = (step: number): SQL => sql`${`(${step * stepBlocks},0)`}::tid`;
  return Array.from({ length: steps }, (_, step) =>
    step === steps - 1 ? sql`ctid >= ${place(step)}` : sql`(ctid >= ${place(step)} and ctid < ${place(step + 1)})`,
  );
}

function widen(range: Range, [shortest, longest]: readonly (number | null)[]): void {
  range[0] = Math.min(range[0], shortest ?? range[0]);
  range[1] = Math.max(range[1], longest ?? range[1]);
}

function take(found: Found, { aged, soon }: { aged: string[] | null; soon: string[] | null }): void {
  for (const id of aged ?? []) found.aged.add(id);
  for (const id of soon ?? []) found.soon.add(id);
}

type Stretches = Record<'past' | 'coming' | 'both', Stretch>;

/** Returns the time ranges of a step. `coming` is empty once the scan has found too many VMs that will soon age. */
const stretches = ({ since, now }: AgeingScan, { soon }: Found): Stretches => {
  const ahead = soon.size > maxSoon ? now : new Date(now.getTime() + soonSeconds * 1000);
  return { past: { from: since, to: now }, coming: { from: now, to: ahead }, both: { from: since, to: ahead } };
};

async function scanAgents(
  tx: Transaction,
  { past, coming }: Stretches,
  where: SQL,
): Promise<{ heartbeat: (number | null)[]; status: (number | null)[]; aged: string[] | null; soon: string[] | null }> {
  const agentPasses = (stretch: Stretch): SQL =>
    sql`(${passes(sql`next_expected_at`, stretch, graceSeconds)} or ${passes(sql`last_seen_at`, stretch, unresponsiveSeconds)})`;
  const { rows } = await tx.execute<Awaited<ReturnType<typeof scanAgents>> & Record<string, unknown>>(sql`
    select array[min(heartbeat_seconds), max(heartbeat_seconds)] as heartbeat,
      array[min(status_seconds), max(status_seconds)] as status,
      array_agg(vm_id::text) filter (where ${agentPasses(past)}) as aged,
      array_agg(vm_id::text) filter (where ${agentPasses(coming)}) as soon
    from agent_presence where ${where}`);
  return rows[0] ?? { heartbeat: [], status: [], aged: null, soon: null };
}

async function scanReadings(
  tx: Transaction,
  { past, coming, both }: Stretches,
  where: SQL,
  promised: Record<'heartbeat' | 'status', Range>,
): Promise<{ aged: string[]; soon: string[] }> {
  const due: Record<'heartbeat' | 'status', Period> = {
    heartbeat: { own: sql`heartbeat_seconds`, usual: defaultPeriods.heartbeatSeconds },
    status: { own: sql`status_seconds`, usual: defaultPeriods.statusSeconds },
  };
  const late = ([shortest, longest]: Range): Range => [shortest + graceSeconds, longest + graceSeconds];
  const [heartbeat, status] = [late(promised.heartbeat), late(promised.status)];
  const ofOwn = (at: SQL, stretch: Stretch, seconds: SQL): SQL =>
    passes(sql`${at} + make_interval(secs => ${seconds})`, stretch, 0);
  const own = ({ own: period, usual }: Period): SQL => sql`coalesce(${period}, ${usual}) + ${graceSeconds}`;
  const untilOld = sql`${unresponsiveSeconds} - heartbeat_age_seconds`;
  const readingPasses = (stretch: Stretch): SQL => sql`(
    (is_old and ${ofOwn(sql`heartbeat_read_at`, stretch, untilOld)})
    or (is_late and ${ofOwn(sql`heartbeat_read_at`, stretch, own(due.heartbeat))})
    or (is_stale and ${ofOwn(sql`status_read_at`, stretch, own(due.status))}))`;
  // An agent's own periods are read only for readings that would be late with the shortest period of any agent.
  const { rows } = await tx.execute<{ vm_id: string; aged: boolean; soon: boolean }>(sql`
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
  const those = (which: 'aged' | 'soon'): string[] => rows.flatMap((row) => (row[which] ? [row.vm_id] : []));
  return { aged: those('aged'), soon: those('soon') };
}
