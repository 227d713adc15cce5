import { type SQL, sql } from 'drizzle-orm';
import type { Condition, FieldValue, FleetField, TagFilter, ValueOf } from '#server/domain/fleet-field.ts';
import { rankOf, type VmHealth, vmHealths } from '#server/domain/verdicts/index.ts';

const minuteMs = 60_000;
const wholeId = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Returns a LIKE pattern that matches texts containing `text` literally. */
export const likePart = (text: string): string => `%${text.replaceAll(/[\\%_]/g, '\\$&')}%`;

/** SQL for the rank of a health value, as `vm_health` stores it. */
export const rank = (health: VmHealth): SQL => sql`${rankOf(health)}::smallint`;

/** Returns a condition with the same SQL in both forms. */
const both = (condition: SQL): Condition => ({ set: condition, row: condition });

/** Defines a field with a typed value. */
export const fleetField = <const N extends string, const V extends FieldValue>(field: FleetField<N, V>) => field;

const name = fleetField({
  name: 'q',
  parameter: 'q',
  label: 'search',
  isSetByPeople: true,
  value: { kind: 'text', max: 200 },
  orders: ['name'],
  of: 'vm',
  where(q, { table, id }) {
    const named = sql`lower(h.name) like lower(${likePart(q)})`;
    if (wholeId.test(q)) return [both(sql`(${named} or ${id} = ${q}::uuid)`)];
    // `vms` has an index for searching parts of names. `vm_health` has none, because it is written more often.
    const among = sql`h.vm_id in (select v.id from vms v where v.deleted_at is null and lower(v.name) like lower(${likePart(q)}))`;
    return [{ set: table === 'vms' ? named : among, row: named }];
  },
});

const health = fleetField({
  name: 'health',
  parameter: 'health',
  label: 'filter.health',
  isSetByPeople: false,
  value: { kind: 'words', words: vmHealths },
  orders: ['health', 'since'],
  of: 'health',
  healths: (value) => value,
  where: () => [],
});

const tags = fleetField({
  name: 'tags',
  parameter: 'tag',
  label: 'filter.tag',
  description: '`name=value`, or a name alone. In the name, `%` and `=` are written `%25` and `%3D`.',
  isSetByPeople: true,
  value: { kind: 'tags', max: 256, count: 16 },
  of: 'health',
  where: (value) => [
    ...value.flatMap((tag) => (tag.value === undefined ? both(sql`h.tags ? ${tag.name}`) : [])),
    ...tagObjects(value).map((object) => both(sql`h.tags @> ${JSON.stringify(object)}::jsonb`)),
  ],
  facet: {
    find: 'filter.find.tag',
    // Most VMs share their tags with others, so whole tag objects are counted before they are split.
    rows: ({ table, where }) => sql`
      select t.key as name, t.value, sum(w.n)::int as n
      from (select h.tags, count(*) as n from ${table} where ${where} group by h.tags) w,
        jsonb_each_text(w.tags) t
      group by 1, 2`,
  },
});

/** Packs tags with values into as few objects as possible, because the index finds each object in one lookup. */
function tagObjects(value: readonly TagFilter[]): Record<string, string>[] {
  const objects: Map<string, string>[] = [];
  for (const tag of value) {
    if (tag.value === undefined) continue;
    const free = objects.find((object) => !object.has(tag.name));
    if (free === undefined) objects.push(new Map([[tag.name, tag.value]]));
    else free.set(tag.name, tag.value);
  }
  return objects.map((object) => Object.fromEntries(object));
}

/** SQL condition for the extensions `e` of the matching VMs. */
const amongMatching = ({ isWhole, id, table, where }: { isWhole: boolean; id: SQL; table: SQL; where: SQL }): SQL =>
  isWhole ? sql`true` : sql`e.vm_id in (select ${id} from ${table} where ${where})`;

const handler = fleetField({
  name: 'handler',
  parameter: 'handler',
  label: 'filter.handler',
  isSetByPeople: true,
  value: { kind: 'text', min: 1, max: 300 },
  of: 'extension',
  where: (value) => [both(sql`e.handler = ${value}`)],
  facet: {
    find: 'filter.find.handler',
    rows: (matching) => sql`
      select e.handler as name, e.goal_version as value, count(*)::int as n
      from extension_health e where ${amongMatching(matching)} group by 1, 2`,
  },
});

const version = fleetField({
  name: 'version',
  parameter: 'version',
  label: 'filter.version',
  description: 'The version in the goal state, or the beginning of one: `2.4.*`.',
  // This is the version in the goal state, which an automatic upgrade could change too.
  isSetByPeople: false,
  value: { kind: 'text', max: 64, form: String.raw`^\d+(\.\d+){0,2}(\.\d+|\.\*)?$`, fault: 'version_filter_form' },
  of: 'extension',
  // The value has only digits and dots before the star, so it needs no escaping.
  where: (value) => [
    both(value.endsWith('*') ? sql`e.goal_version like ${`${value.slice(0, -1)}%`}` : sql`e.goal_version = ${value}`),
  ],
});

const messageId = fleetField({
  name: 'messageId',
  parameter: 'messageId',
  label: 'filter.messageId',
  isSetByPeople: false,
  value: { kind: 'text', min: 1, max: 256 },
  of: 'extension',
  where: (value) => [both(sql`e.message_id = ${value}`)],
  facet: {
    find: 'filter.find.messageId',
    rows: (matching) => sql`
      select e.message_id as name, null::text as value, count(*)::int as n
      from extension_health e where e.message_id is not null and ${amongMatching(matching)} group by 1`,
  },
});

const silentMinutes = fleetField({
  name: 'silentMinutes',
  parameter: 'silentMinutes',
  label: 'filter.silent',
  isSetByPeople: false,
  value: { kind: 'number', min: 1, max: 525_600 },
  of: 'health',
  healths: () => ['unresponsive'],
  where: (value, { now }) => [both(silentFor(value, now))],
});

/** SQL condition for unresponsive VMs whose agent last called more than `minutes` ago. */
export function silentFor(minutes: number, now: Date): SQL {
  const before = new Date(now.getTime() - minutes * minuteMs).toISOString();
  return sql`(h.rank = ${rank('unresponsive')} and exists (
    select from agent_presence p where p.vm_id = h.vm_id and p.last_seen_at < ${before}::timestamptz))`;
}

const held = fleetField({
  name: 'held',
  parameter: 'held',
  label: 'filter.held',
  description: 'Whether the VM is on hold: `yes` or `no`.',
  isSetByPeople: true,
  value: { kind: 'words', words: ['yes', 'no'] },
  of: 'vm',
  where(value, { id }) {
    if (value.includes('yes') && value.includes('no')) return [];
    const isHeld = sql`${id} in (select o.vm_id from holds o where o.since is not null)`;
    return [both(value.includes('yes') ? isHeld : sql`not (${isHeld})`)];
  },
});

/**
 * The filter fields of the fleet. Lists, counts, facets, exports, the API and URLs are derived from them. Other modules
 * can define more fields; `server/process/services.ts` passes in the complete list.
 */
export const coreFields = [name, health, tags, handler, version, messageId, silentMinutes, held] as const;

type CoreField = (typeof coreFields)[number];

/** A filter of VMs. All conditions must hold, and the conditions on extensions must hold for the same extension. */
export type FleetFilter = { [F in CoreField as F['name']]?: ValueOf<F['value']> | undefined };
