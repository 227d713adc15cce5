import { type SQL, sql } from 'drizzle-orm';
import { type FleetFilter, fleetHealths } from './input.ts';

/** Where VMs of a list come from: a table with the alias `h`, and what must hold of its rows. */
export interface FleetSource {
  table: SQL;
  id: SQL;
  where: SQL;
  /** It leaves every VM. */
  isAll: boolean;
}

export interface SourceOptions {
  /** Asks the table of health in any case. */
  byHealth?: boolean;
  /** Many rows will be passed over or counted. */
  deep?: boolean;
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
 * all else, or `byHealth`, of the table of health, which follows within a second.
 */
export function fleetSource(filter: FleetFilter, now: Date, options: SourceOptions = {}): FleetSource {
  const health = options.byHealth === true || asksHealth(filter);
  const id = health ? sql`h.vm_id` : sql`h.id`;
  const conditions = [
    nameCondition(filter, id, health),
    ...(health ? healthConditions(filter, now, options.deep) : []),
  ].filter((condition) => condition !== undefined);
  return {
    table: health ? sql`vm_health h` : sql`vms h`,
    id,
    where: sql.join([health ? sql`true` : sql`h.deleted_at is null`, ...conditions], sql` and `),
    isAll: conditions.length === 0,
  };
}

function nameCondition({ q }: FleetFilter, id: SQL, health: boolean): SQL | undefined {
  if (q === undefined || q === '') return undefined;
  // The VMs have an index of the parts of their names; the table of health, where more is written, has none.
  const named = sql`lower(h.name) like lower(${likePart(q)})`;
  const among = health
    ? sql`h.vm_id in (select v.id from vms v where v.deleted_at is null and lower(v.name) like lower(${likePart(q)}))`
    : named;
  return wholeId.test(q) ? sql`(${named} or ${id} = ${q}::uuid)` : among;
}

function healthConditions(filter: FleetFilter, now: Date, deep = false): (SQL | undefined)[] {
  const { health, tags = [], silentMinutes } = filter;
  return [
    health?.length
      ? // By rank, for which there is an index.
        sql`h.rank in (${sql.join(
          health.map((one) => sql`${fleetHealths.indexOf(one)}::smallint`),
          sql`, `,
        )})`
      : undefined,
    ...tags.flatMap(({ name, value }) => (value === undefined ? sql`h.tags ? ${name}` : [])),
    ...valued(tags).map((wanted) => sql`h.tags @> ${JSON.stringify(wanted)}::jsonb`),
    extensionCondition(filter, deep),
    silentMinutes === undefined ? undefined : silentFor(silentMinutes, now),
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
  return sql`(h.rank = ${fleetHealths.indexOf('unresponsive')}::smallint and exists (
    select from agent_presence p where p.vm_id = h.vm_id and p.last_seen_at < ${before}::timestamptz))`;
}

/** One extension for which all of it holds. */
function extensionCondition({ handler, version, messageId }: FleetFilter, deep: boolean): SQL | undefined {
  const conditions = [
    handler === undefined ? undefined : sql`e.handler = ${handler}`,
    versionCondition(version),
    messageId === undefined ? undefined : sql`e.message_id = ${messageId}`,
  ].filter((condition) => condition !== undefined);
  if (conditions.length === 0) return undefined;
  const among = sql`h.vm_id in (select e.vm_id from extension_health e where ${sql.join(conditions, sql` and `)})`;
  // As a plain condition it becomes a join, which asks anew for every VM; so written, the extensions are hashed once.
  return deep ? sql`(${among}) is true` : among;
}

function versionCondition(version: string | undefined): SQL | undefined {
  if (version === undefined) return undefined;
  // By its form there are only digits and dots before the star.
  return version.endsWith('*')
    ? sql`e.goal_version like ${`${version.slice(0, -1)}%`}`
    : sql`e.goal_version = ${version}`;
}
