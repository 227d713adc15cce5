import { sql } from 'drizzle-orm';
import { z } from 'zod';
import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import type { FleetFields } from '#server/domain/fleet-field.ts';
import { parse } from '#server/domain/parse.ts';
import { memoize } from '#server/platform/memoize.ts';
import { likePart } from './field.ts';
import { fleetSource } from './filter.ts';
import { fleetFilterInput } from './filter-input.ts';

/** A value to filter by, such as a tag or a handler. */
export interface FleetFacet {
  name: string;
  /** Number of VMs that the list shows when the value is chosen. */
  count: number;
  /** Values of a tag, or versions of a handler, most frequent first. */
  values: { value: string; count: number }[];
  /** Whether there are more values, which a search can find. */
  more: boolean;
}

/** A filter, the field whose values are listed, and an optional search text. */
const listFleetFacetsInput = memoize((fields: FleetFields) =>
  fleetFilterInput(fields).extend({
    facet: z.enum(fields.filter(({ facet }) => facet !== undefined).map(({ parameter }) => parameter)),
    part: z.string().max(200).optional(),
  }),
);
export type ListFleetFacetsInput = z.input<ReturnType<typeof listFleetFacetsInput>>;

const names = 12;
const valuesOfEach = 8;

/** Lists the most frequent values of a field. With a search text, lists only values that match it. */
export async function listFleetFacets(
  ctx: Context,
  input: ListFleetFacetsInput,
): Promise<{ items: FleetFacet[]; more: boolean }> {
  allow(ctx.actor, 'viewer');
  const { facet, part, ...filter } = parse(listFleetFacetsInput(ctx.fleetFields), input);
  const field = ctx.fleetFields.find(({ parameter }) => parameter === facet);
  if (field?.facet === undefined) throw new DomainError('not_found', 'not_found');
  const pairs = field.facet.rows(fleetSource(ctx.fleetFields, filter, ctx.now, 'health'));
  const like = part ? likePart(part) : null;
  const found = like === null ? sql`true` : sql`(name ilike ${like} or value ilike ${like})`;
  const { rows } = await ctx.db.execute<{
    name: string;
    value: string | null;
    n: number;
    total: number;
    r: number;
  }>(sql`
    with found as (select name, value, n from (${pairs} offset 0) p where ${found}),
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
