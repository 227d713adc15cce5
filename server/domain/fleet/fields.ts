import { type SQL, sql } from 'drizzle-orm';
import { outdatedAgentSql } from '#server/domain/enrollment/index.ts';
import type { TagFilter, ValueOf } from '#server/domain/fleet-field.ts';
import { vmHealths } from '#server/domain/verdicts/index.ts';
import { changeFields } from './change-fields.ts';
import { event } from './event-field.ts';
import { extensionFields } from './extension-fields.ts';
import { both, fleetField, likePart, rank, timeSql, whether, yesOrNo } from './field.ts';
import { unitFields } from './unit-fields.ts';

const minuteMs = 60_000;
const wholeId = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

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
  facet: {
    find: 'filter.find.health',
    rows: ({ table, where }) => sql`
      select h.health as name, null::text as value, count(*)::int as n from ${table} where ${where} group by 1`,
  },
});

const tags = fleetField({
  name: 'tags',
  parameter: 'tag',
  label: 'filter.tag',
  description: 'A tag as `name=value`, or only its name. In the name, `%` and `=` are written `%25` and `%3D`.',
  isSetByPeople: true,
  value: { kind: 'tags', max: 256, count: 16 },
  of: 'health',
  where: (value) => [
    ...value.flatMap((tag) => (tag.value === undefined ? both(sql`h.tags ? ${tag.name}`) : [])),
    ...tagObjects(value).map((object) => both(sql`h.tags @> ${JSON.stringify(object)}::jsonb`)),
  ],
  facet: {
    find: 'filter.find.tag',
    // Many VMs have identical tags, so whole tag objects are counted before they are split.
    rows: ({ table, where }) => sql`
      select t.key as name, t.value, sum(w.n)::int as n
      from (select h.tags, count(*) as n from ${table} where ${where} group by h.tags) w,
        jsonb_each_text(w.tags) t
      group by 1, 2`,
  },
});

const notTags = fleetField({
  name: 'notTags',
  parameter: 'notTag',
  label: 'filter.notTag',
  description: 'Excludes VMs that have this tag, in the same format as `tag`.',
  isSetByPeople: true,
  value: { kind: 'tags', max: 256, count: 32 },
  of: 'health',
  where: (value) =>
    value.map((tag) =>
      both(
        tag.value === undefined
          ? sql`not (h.tags ? ${tag.name})`
          : sql`not (h.tags @> ${JSON.stringify(Object.fromEntries([[tag.name, tag.value]]))}::jsonb)`,
      ),
    ),
});

/** Combines tags with values into as few objects as possible, because the index finds each object in one lookup. */
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
  return lastSeen(sql`p.last_seen_at < ${timeSql(before)}`);
}

const silentAfter = fleetField({
  name: 'silentAfter',
  parameter: 'silentAfter',
  label: 'filter.silentAfter',
  description: 'The VM is unresponsive, and its agent last called at this time or later.',
  isSetByPeople: false,
  value: { kind: 'time' },
  of: 'health',
  healths: () => ['unresponsive'],
  where: (value) => [both(lastSeen(sql`p.last_seen_at >= ${timeSql(value)}`))],
});

const silentBefore = fleetField({
  name: 'silentBefore',
  parameter: 'silentBefore',
  label: 'filter.silentBefore',
  description: 'The VM is unresponsive, and its agent last called before this time.',
  isSetByPeople: false,
  value: { kind: 'time' },
  of: 'health',
  healths: () => ['unresponsive'],
  where: (value) => [both(lastSeen(sql`p.last_seen_at < ${timeSql(value)}`))],
});

/** SQL condition for unresponsive VMs whose agent's presence `p` meets a condition. */
const lastSeen = (condition: SQL): SQL => sql`(h.rank = ${rank('unresponsive')} and exists (
  select from agent_presence p where p.vm_id = h.vm_id and ${condition}))`;

const sinceAfter = fleetField({
  name: 'sinceAfter',
  parameter: 'sinceAfter',
  label: 'filter.sinceAfter',
  description: 'The VM got its current health at this time or later.',
  isSetByPeople: false,
  value: { kind: 'time' },
  of: 'health',
  where: (value) => [both(sql`h.since >= ${timeSql(value)}`)],
});

const sinceBefore = fleetField({
  name: 'sinceBefore',
  parameter: 'sinceBefore',
  label: 'filter.sinceBefore',
  description: 'The VM got its current health before this time.',
  isSetByPeople: false,
  value: { kind: 'time' },
  of: 'health',
  where: (value) => [both(sql`h.since < ${timeSql(value)}`)],
});

const held = fleetField({
  name: 'held',
  parameter: 'held',
  label: 'filter.held',
  description: 'Whether the VM is on hold: `yes` or `no`.',
  isSetByPeople: true,
  value: { kind: 'words', words: yesOrNo },
  of: 'vm',
  where: (value, { id }) => whether(value, sql`(${id} in (select o.vm_id from holds o where o.since is not null))`),
});

const agentOutdated = fleetField({
  name: 'agentOutdated',
  parameter: 'agentOutdated',
  label: 'filter.agentOutdated',
  description: 'Whether the VM has a reference agent that is older than the version that Annex serves: `yes` or `no`.',
  isSetByPeople: false,
  value: { kind: 'words', words: yesOrNo },
  of: 'vm',
  where: (value, { id }) =>
    whether(value, sql`(${id} in (select a.vm_id from agents a where ${outdatedAgentSql(sql`a`)}))`),
});

/**
 * The filter fields of the fleet. Lists, counts, facets, exports, the API and URLs are derived from them. Other modules
 * can define more fields; `server/domain/views/fleet-fields.ts` has the complete list.
 */
export const coreFields = [
  name,
  health,
  tags,
  notTags,
  ...extensionFields,
  ...unitFields,
  silentMinutes,
  silentAfter,
  silentBefore,
  sinceAfter,
  sinceBefore,
  ...changeFields,
  held,
  agentOutdated,
  event,
] as const;

type CoreField = (typeof coreFields)[number];

/**
 * A filter of VMs. All conditions must hold. Conditions on extensions must hold for the same extension, and conditions
 * on changes of the VM's health must hold for the same change.
 */
export type FleetFilter = { [F in CoreField as F['name']]?: ValueOf<F['value']> | undefined };
