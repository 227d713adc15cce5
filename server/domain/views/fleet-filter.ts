import { type SQL, sql } from 'drizzle-orm';
import { rankOf, type VmHealth, vmHealths } from '#server/domain/verdicts/index.ts';
import type { FleetFilter, FleetSort } from './input.ts';

/** Rows with the alias `h`, and what must hold of them. */
export interface FleetRows {
  table: SQL;
  where: SQL;
}

/** Where VMs of a list come from. `table` and `where` are for all that match at once, in any order. */
export interface FleetSource extends FleetRows {
  id: SQL;
  /** The same for who goes through them in the list's order: each row is asked by itself. */
  each: SQL;
  /** Parts of the table that an index gives in the list's order, by what holds of them. */
  streams: SQL[];
  /** What must hold of a row from there. */
  asked: SQL;
  /** Nothing is asked. */
  isAll: boolean;
}

const minuteMs = 60_000;
const wholeId = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Text as a part of a LIKE pattern, with nothing in it that stands for anything else. */
export const likePart = (text: string): string => `%${text.replaceAll(/[\\%_]/g, '\\$&')}%`;

/** Whether it asks for what only the table of health knows. */
function asksHealth(filter: FleetFilter): boolean {
  const { health, tags, handler, version, messageId, silentMinutes } = filter;
  return (
    [health, tags].some((list) => list?.length) || (handler ?? version ?? messageId ?? silentMinutes) !== undefined
  );
}

/**
 * The VMs that a filter leaves. Names alone are asked of the VMs themselves, which are there from their first moment;
 * all else, and orders by health, of the table of health, which follows within a second.
 */
export function fleetSource(filter: FleetFilter, now: Date, sort: FleetSort = 'name'): FleetSource {
  const isByHealth = !sort.endsWith('name') || asksHealth(filter);
  const id = isByHealth ? sql`h.vm_id` : sql`h.id`;
  const ranks = isByHealth ? ranksOf(filter) : null;
  const asked = [nameCondition(filter, id, isByHealth), ...(isByHealth ? healthConditions(filter, now) : [])].filter(
    (condition) => condition !== undefined,
  );
  const ofTable = isByHealth ? inRanks(ranks) : sql`h.deleted_at is null`;
  const every = (conditions: readonly SQL[]): SQL => sql.join([sql`true`, ...conditions], sql` and `);
  const each = asked.map((condition) => condition.each);
  // Within a rank there is an index for each order.
  const isByRank = isByHealth && (sort.endsWith('since') || (sort.endsWith('name') && ranks !== null));
  return {
    table: isByHealth ? sql`vm_health h` : sql`vms h`,
    id,
    where: every([ofTable, ...asked.map(({ atOnce }) => atOnce)]),
    each: every([ofTable, ...each]),
    streams: isByRank ? (ranks ?? vmHealths.map(rank)).map((one) => inRanks([one])) : [ofTable],
    asked: every(each),
    isAll: asked.length === 0,
  };
}

const rank = (health: VmHealth): SQL => sql`${rankOf(health)}::smallint`;

/** By rank, for which there are indexes; null for all. */
function ranksOf({ health, silentMinutes }: FleetFilter): SQL[] | null {
  const wanted = new Set(health?.length ? health : vmHealths);
  const found = silentMinutes === undefined ? wanted : wanted.intersection(new Set(['unresponsive'] as const));
  return found.size === vmHealths.length ? null : found.size === 0 ? [sql`-1`] : [...found].map(rank);
}

const inRanks = (ranks: readonly SQL[] | null): SQL =>
  ranks === null ? sql`true` : sql`h.rank in (${sql.join([...ranks], sql`, `)})`;

/** What is asked of VMs: in a form for all at once, and in one that is asked of a row by itself. */
interface Condition {
  atOnce: SQL;
  each: SQL;
}

const plainly = (condition: SQL): Condition => ({ atOnce: condition, each: condition });

function nameCondition({ q }: FleetFilter, id: SQL, isByHealth: boolean): Condition | undefined {
  if (q === undefined || q === '') return undefined;
  const named = sql`lower(h.name) like lower(${likePart(q)})`;
  if (wholeId.test(q)) return plainly(sql`(${named} or ${id} = ${q}::uuid)`);
  // The VMs have an index of the parts of their names; the table of health, where more is written, has none.
  const among = sql`h.vm_id in (select v.id from vms v where v.deleted_at is null and lower(v.name) like lower(${likePart(q)}))`;
  return { atOnce: isByHealth ? among : named, each: named };
}

function healthConditions(filter: FleetFilter, now: Date): (Condition | undefined)[] {
  const { tags = [], silentMinutes } = filter;
  return [
    ...tags.flatMap(({ name, value }) => (value === undefined ? plainly(sql`h.tags ? ${name}`) : [])),
    ...valued(tags).map((wanted) => plainly(sql`h.tags @> ${JSON.stringify(wanted)}::jsonb`)),
    extensionCondition(filter),
    silentMinutes === undefined ? undefined : plainly(silentFor(silentMinutes, now)),
  ];
}

/** Tags with their values in as few objects as there can be: each is looked up as a whole. */
function valued(tags: NonNullable<FleetFilter['tags']>): Record<string, string>[] {
  const objects: Map<string, string>[] = [];
  for (const { name, value } of tags) {
    if (value === undefined) continue;
    const free = objects.find((object) => !object.has(name));
    if (free === undefined) objects.push(new Map([[name, value]]));
    else free.set(name, value);
  }
  return objects.map((object) => Object.fromEntries(object));
}

/** Its agent has missed its time, which makes the VM unresponsive, and was last heard so long ago. */
export function silentFor(minutes: number, now: Date): SQL {
  const before = new Date(now.getTime() - minutes * minuteMs).toISOString();
  return sql`(h.rank = ${rank('unresponsive')} and exists (
    select from agent_presence p where p.vm_id = h.vm_id and p.last_seen_at < ${before}::timestamptz))`;
}

/** One extension for which all of it holds. */
function extensionCondition({ handler, version, messageId }: FleetFilter): Condition | undefined {
  const conditions = [
    handler === undefined ? undefined : sql`e.handler = ${handler}`,
    versionCondition(version),
    messageId === undefined ? undefined : sql`e.message_id = ${messageId}`,
  ].filter((condition) => condition !== undefined);
  if (conditions.length === 0) return undefined;
  const all = sql.join(conditions, sql` and `);
  return {
    atOnce: sql`h.vm_id in (select e.vm_id from extension_health e where ${all})`,
    // The offset keeps it a question about this row: without it all extensions are read and hashed first.
    each: sql`exists (select from extension_health e where e.vm_id = h.vm_id and ${all} offset 0)`,
  };
}

function versionCondition(version: string | undefined): SQL | undefined {
  if (version === undefined) return undefined;
  // By its form there are only digits and dots before the star.
  return version.endsWith('*')
    ? sql`e.goal_version like ${`${version.slice(0, -1)}%`}`
    : sql`e.goal_version = ${version}`;
}
