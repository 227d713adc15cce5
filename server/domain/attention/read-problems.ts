import { type SQL, sql } from 'drizzle-orm';
import type { Database, Transaction } from '#db/client.ts';
import { extensionHealth, vmConcerns } from '#db/schema/index.ts';
import { type HealthCause, rankOf } from '#server/domain/verdicts/index.ts';
import type { FleetProblem } from './problem.ts';
import { silentClusters } from './silent-clusters.ts';

/** Maximum number of problems that are read, and maximum number of sampled VMs per problem. */
const maxProblems = 1_000;
const sampleSize = 500;
const maxVersions = 50;

/** Problems, worst first, then by the number of VMs. `total` also counts problems that were not read. */
export interface FleetProblems {
  items: FleetProblem[];
  total: number;
}

interface Row {
  [column: string]: unknown;
  key: string;
  vms: number;
  since: string;
  last: string;
  total: number;
  sampled: string[];
}

/**
 * Groups failed and degraded extensions and units by cause, and unresponsive agents by the time at which they became
 * unresponsive.
 */
export async function readProblems(db: Database | Transaction, keys?: readonly string[]): Promise<FleetProblems> {
  const read = [readExtensionProblems, readUnitProblems, readSilentAgents];
  const found: FleetProblems[] = [];
  for (const one of read) found.push(await one(db, keys));
  return {
    items: found.flatMap(({ items }) => items).toSorted(worstFirst),
    total: found.reduce((sum, { total }) => sum + total, 0),
  };
}

const worstFirst = (a: FleetProblem, b: FleetProblem): number =>
  rankOf(a.health) - rankOf(b.health) || b.vms - a.vms || (a.since < b.since ? -1 : a.since > b.since ? 1 : 0);

/** SQL for the key of a problem: a digest of the values that define it. */
const keyOf = (...values: SQL[]): SQL =>
  sql`left(encode(sha256(convert_to(concat_ws(E'\\x1f', ${sql.join(
    values.map((value) => sql`coalesce((${value})::text, '')`),
    sql`, `,
  )}), 'UTF8')), 'hex'), 32)`;

const isoTime = (time: SQL): SQL => sql`to_char(${time} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

const among = (keys: readonly string[] | undefined): SQL =>
  keys === undefined ? sql`true` : sql`key = any (${sql.param([...keys])}::text[])`;

/**
 * SQL for the failed and degraded extensions, except those with the cause `silent` or `waiting`, with the columns that
 * define their problem.
 */
const failing = sql`(
  select vm_id, name, handler, coalesce(version, goal_version) as version, cause, coalesce(problem_since, since) as since,
    health,
    case when cause in ('exit', 'timeout', 'command') then command end as command,
    case when cause = 'exit' then exit_code end as exit_code,
    case when cause in ('status', 'substatus') then message_id end as message_id,
    case when cause in ('exit', 'timeout', 'command') then message_id end as said
  from ${extensionHealth}
  where cause is not null and cause not in ('silent', 'waiting') and health in ('failed', 'degraded')
)`;

async function readExtensionProblems(db: Database | Transaction, keys?: readonly string[]): Promise<FleetProblems> {
  const { rows } = await db.execute<
    Row & {
      health: 'failed' | 'degraded';
      handler: string;
      cause: HealthCause;
      command: string | null;
      exit_code: number | null;
      message_id: string | null;
      name: string | null;
      versions: string[];
      said: string | null;
      newest: string;
      newest_version: string;
    }
  >(sql`
    with failing as ${failing}, groups as (
      select health, handler, cause, command, exit_code, message_id, count(distinct vm_id)::int as vms,
        min(since) as since, max(since) as last, case when min(name) = max(name) then min(name) end as name,
        (array_agg(distinct version))[1:${maxVersions}::int] as versions,
        (array_agg(vm_id order by since desc, vm_id))[1:${sampleSize}::int] as sampled,
        case when count(said) = count(*) and min(said) = max(said) then min(said) end as said,
        (array_agg(name order by since desc, vm_id))[1] as newest,
        (array_agg(version order by since desc, vm_id))[1] as newest_version
      from failing group by 1, 2, 3, 4, 5, 6
    ), keyed as (
      select *, ${keyOf(sql`'extension'`, sql`health`, sql`handler`, sql`cause`, sql`command`, sql`exit_code`, sql`message_id`)} as key
      from groups
    )
    select key, health, handler, cause, command, exit_code, message_id, vms, ${isoTime(sql`since`)} as since,
      ${isoTime(sql`last`)} as last, name, versions, sampled, said, newest, newest_version, (count(*) over ())::int as total
    from keyed where ${among(keys)} order by health = 'degraded', keyed.vms desc, keyed.since, key limit ${maxProblems}`);
  const items = rows.map((row): FleetProblem => {
    const { key, health, vms, since, last, versions, sampled, handler, cause, command, name } = row;
    return {
      ...{ key, health, vms, since, lastSince: last, versions, silence: null },
      extension: { isUnit: false, handler, name, cause, command, exitCode: row.exit_code, messageId: row.message_id },
      messageId: row.message_id ?? row.said,
      sample: { vmIds: sampled, extension: row.newest, version: row.newest_version },
    };
  });
  return { items, total: rows[0]?.total ?? 0 };
}

/** SQL for the VMs whose worst unit is failed or degraded, with the columns that define the unit's problem. */
const failingUnits = sql`(
  select vm_id, subject as name, coalesce(formula, '') as formula, cause, since, health, command,
    case when cause = 'exit' then exit_code end as exit_code
  from ${vmConcerns}
  where source = 'units' and cause is not null and cause not in ('silent', 'waiting')
    and health in ('failed', 'degraded')
)`;

async function readUnitProblems(db: Database | Transaction, keys?: readonly string[]): Promise<FleetProblems> {
  const { rows } = await db.execute<
    Row & {
      health: 'failed' | 'degraded';
      formula: string;
      cause: HealthCause;
      command: string | null;
      exit_code: number | null;
      name: string | null;
      newest: string;
    }
  >(sql`
    with groups as (
      select health, formula, cause, command, exit_code, count(*)::int as vms, min(since) as since,
        max(since) as last, case when min(name) = max(name) then min(name) end as name,
        (array_agg(vm_id order by since desc, vm_id))[1:${sampleSize}::int] as sampled,
        (array_agg(name order by since desc, vm_id))[1] as newest
      from ${failingUnits} failing group by 1, 2, 3, 4, 5
    ), keyed as (
      select *, ${keyOf(sql`'unit'`, sql`health`, sql`formula`, sql`cause`, sql`command`, sql`exit_code`)} as key from groups
    )
    select key, health, formula, cause, command, exit_code, vms, ${isoTime(sql`since`)} as since,
      ${isoTime(sql`last`)} as last, name, sampled, newest, (count(*) over ())::int as total
    from keyed where ${among(keys)} order by health = 'degraded', keyed.vms desc, keyed.since, key limit ${maxProblems}`);
  const items = rows.map((row): FleetProblem => {
    const { key, health, vms, since, last, sampled, formula: handler, cause, command, name } = row;
    return {
      ...{ key, health, vms, since, lastSince: last, versions: [], silence: null, messageId: null },
      extension: { isUnit: true, handler, name, cause, command, exitCode: row.exit_code, messageId: null },
      sample: { vmIds: sampled, extension: row.newest, version: '' },
    };
  });
  return { items, total: rows[0]?.total ?? 0 };
}

async function readSilentAgents(db: Database | Transaction, keys?: readonly string[]): Promise<FleetProblems> {
  const { rows } = await db.execute<Row & { is_together: boolean }>(sql`
    with groups as (
      select cluster is not null as is_together, count(*)::int as vms, min(since) as since, max(since) as last,
        (array_agg(vm_id order by since desc, vm_id))[1:${sampleSize}::int] as sampled
      from ${silentClusters} group by cluster
    ), keyed as (
      select *, ${keyOf(sql`'silent'`, sql`case when is_together then ${isoTime(sql`date_trunc('minute', since)`)} end`)}
        as key
      from groups
    )
    select key, is_together, vms, ${isoTime(sql`since`)} as since, ${isoTime(sql`last`)} as last, sampled,
      (count(*) over ())::int as total
    from keyed where ${among(keys)} order by keyed.vms desc, keyed.since limit ${maxProblems}`);
  const items = rows.map(
    ({ key, vms, since, last, sampled, is_together }): FleetProblem => ({
      ...{ key, vms, since, lastSince: last, health: 'unresponsive', extension: null, versions: [] },
      silence: is_together ? 'together' : 'alone',
      messageId: null,
      sample: { vmIds: sampled, extension: '', version: '' },
    }),
  );
  return { items, total: rows[0]?.total ?? 0 };
}

/** Counts the problems without reading their details. */
export async function countProblems(db: Database): Promise<number> {
  const { rows } = await db.execute<{ n: number }>(sql`
    select ((select count(*) from (
        select distinct health, handler, cause, command, exit_code, message_id from ${failing} failing) kinds)
      + (select count(*) from (
        select distinct health, formula, cause, command, exit_code from ${failingUnits} failing) kinds)
      + (select count(*) from (select distinct cluster from ${silentClusters}) clusters))::int as n`);
  return rows[0]?.n ?? 0;
}
