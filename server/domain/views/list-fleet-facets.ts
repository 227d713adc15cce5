import { type SQL, sql } from 'drizzle-orm';
import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { parse } from '#server/domain/parse.ts';
import { fleetSource, likePart } from './fleet-filter.ts';
import { type FleetFilter, type ListFleetFacetsInput, listFleetFacetsInput } from './input.ts';

/** A tag, handler or message id that can be filtered by. */
export interface FleetFacet {
  name: string;
  /** VMs that have it; of handlers and message ids, extensions. */
  count: number;
  /** Values of a tag, versions of a handler, the most frequent first. */
  values: { value: string; count: number }[];
  /** There are more values than these: a search finds them. */
  more: boolean;
}

const names = 12;
const valuesOfEach = 8;

/** The most frequent values of a field, bounded; the search of its menu finds the others. */
export async function listFleetFacets(
  ctx: Context,
  input: ListFleetFacetsInput,
): Promise<{ items: FleetFacet[]; more: boolean }> {
  allow(ctx.actor, 'viewer');
  const { facet, part, ...filter } = parse(listFleetFacetsInput, input);
  const like = part ? likePart(part) : null;
  const found = like === null ? sql`true` : sql`(name ilike ${like} or value ilike ${like})`;
  const { rows } = await ctx.db.execute<{
    name: string;
    value: string | null;
    n: number;
    total: number;
    r: number;
  }>(sql`
    with found as (select name, value, n from (${pairs(facet, filter, ctx.now)} offset 0) p where ${found}),
    ranked as (
      select *, row_number() over (partition by name order by n desc, value) as r,
        sum(n) over (partition by name)::int as total
      from found),
    named as (select *, dense_rank() over (order by total desc, name) as d from ranked where r <= ${valuesOfEach + 1})
    select name, value, n, total, r::int from named where d <= ${names + 1} order by d, r`);
  const items = [...Map.groupBy(rows, ({ name }) => name)].map(([name, group]) => ({
    name,
    count: group[0]?.total ?? 0,
    values: group.slice(0, valuesOfEach).flatMap(({ value, n }) => (value === null ? [] : [{ value, count: n }])),
    more: group.length > valuesOfEach,
  }));
  return { items: items.slice(0, names), more: items.length > names };
}

/** Rows of name, value and number among the VMs that match. */
function pairs(facet: 'tag' | 'handler' | 'messageId', filter: FleetFilter, now: Date): SQL {
  const source = fleetSource(filter, now, 'health');
  if (facet === 'tag') {
    // Most VMs share their tags with others: counted whole, then taken apart.
    return sql`
      select t.key as name, t.value, sum(w.n)::int as n
      from (select h.tags, count(*) as n from ${source.table} where ${source.where} group by h.tags) w,
        jsonb_each_text(w.tags) t
      group by 1, 2`;
  }
  const among =
    source.isAll && !filter.health?.length
      ? sql`true`
      : sql`e.vm_id in (select ${source.id} from ${source.table} where ${source.where})`;
  return facet === 'handler'
    ? sql`select e.handler as name, e.goal_version as value, count(*)::int as n
        from extension_health e where ${among} group by 1, 2`
    : sql`select e.message_id as name, null::text as value, count(*)::int as n
        from extension_health e where e.message_id is not null and ${among} group by 1`;
}
