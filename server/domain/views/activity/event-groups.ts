import { type SQL, sql } from 'drizzle-orm';
import { healthTransitions, vmHealth } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import { eventMinute, type FleetEventKind, fleetEventKind, isVmTransition } from '#server/domain/health/index.ts';
import type { ActivityFilter } from '../input.ts';
import { patternOf } from './names-contain.ts';

/** The VMs with one kind of event within one minute. */
export interface EventGroup {
  kind: FleetEventKind;
  /** The beginning of the minute. `<kind>:<minute>` selects exactly these VMs in lists of VMs. */
  minute: Date;
  /** The time of the last event. */
  at: Date;
  vms: number;
  /** For a group of one VM: the VM and, if an extension failed on it, the extension's name. Otherwise null. */
  vm: { id: string; name: string } | null;
  extension: string | null;
}

/** A position in the list of groups: `taken` groups of this minute were already listed. */
export interface EventPlace {
  minute: string;
  taken: number;
}

/** Returns the condition for the transitions `t` that match; null if the filter is only about actions. */
export function eventCondition(filter: ActivityFilter): SQL | null {
  const { actor, action, target, kind, vmId, q, from, to, upToEvent } = filter;
  if (actor !== undefined || action !== undefined || target !== undefined || kind === 'people') return null;
  const conditions = [
    isVmTransition,
    sql`exists (select from ${vmHealth} h where h.vm_id = t.vm_id${
      q === undefined || q === '' ? sql`` : sql` and h.name ilike ${patternOf(q)}`
    })`,
    vmId === undefined ? undefined : sql`t.vm_id = ${vmId}`,
    from === undefined ? undefined : sql`t.at >= ${from}::timestamptz`,
    to === undefined ? undefined : sql`t.at < ${to}::timestamptz`,
    upToEvent === undefined ? undefined : sql`t.id <= ${upToEvent}`,
    sql`${fleetEventKind} is not null`,
  ];
  return sql.join(
    conditions.filter((each) => each !== undefined),
    sql` and `,
  );
}

/**
 * Returns the newest groups after a place in the list, at least `limit` of them if there are that many. Looks up the
 * minutes with events in the index one by one, so the cost depends on the events of these minutes, not on all events in
 * the range.
 */
export async function listEventGroups(
  ctx: Context,
  filter: ActivityFilter,
  after: EventPlace | undefined,
  limit: number,
): Promise<EventGroup[]> {
  const matches = eventCondition(filter);
  if (matches === null) return [];
  const until = after === undefined ? sql`true` : sql`t.at < ${after.minute}::timestamptz + interval '1 minute'`;
  const { rows } = await ctx.db.execute<GroupRow>(sql`
    with recursive minutes as (
      (select ${eventMinute} as minute, 1 as n from ${healthTransitions} t where ${matches} and ${until}
        order by t.at desc limit 1)
      union all
      select (select ${eventMinute} from ${healthTransitions} t where ${matches} and t.at < m.minute
        order by t.at desc limit 1), m.n + 1
      from minutes m where m.minute is not null and m.n <= ${limit}
    ), groups as (
      select m.minute, e.* from minutes m cross join lateral (
        select ${fleetEventKind} as kind, max(t.at) as at, count(distinct t.vm_id)::int as vms,
          (array_agg(t.vm_id))[1] as vm_id
        from ${healthTransitions} t
        where ${matches} and t.at >= m.minute and t.at < m.minute + interval '1 minute' group by 1) e
    )
    select g.kind, extract(epoch from g.minute)::float8 as minute, extract(epoch from g.at)::float8 as at, g.vms,
      g.vm_id, h.name, x.extension
    from groups g
    join ${vmHealth} h on h.vm_id = g.vm_id
    left join lateral (
      select e.extension from ${healthTransitions} e
      where g.vms = 1 and g.kind = 'failed' and e.vm_id = g.vm_id and e.extension is not null and e.kind = 'health'
        and e."to" = 'failed' and e.at between g.minute and g.at
      order by e.at desc limit 1) x on true
    order by g.minute desc, g.at desc, g.kind`);
  const skipped = rows[0] !== undefined && rows[0].minute * 1000 === Date.parse(after?.minute ?? '') ? after?.taken : 0;
  return rows.slice(skipped).map(groupOf);
}

interface GroupRow extends Record<string, unknown> {
  kind: FleetEventKind;
  minute: number;
  at: number;
  vms: number;
  vm_id: string;
  name: string;
  extension: string | null;
}

function groupOf({ kind, minute, at, vms, vm_id: id, name, extension }: GroupRow): EventGroup {
  const isOne = vms === 1;
  return {
    kind,
    minute: new Date(minute * 1000),
    at: new Date(at * 1000),
    vms,
    vm: isOne ? { id, name } : null,
    extension: isOne ? extension : null,
  };
}
