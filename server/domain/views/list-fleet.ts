import { type SQL, sql } from 'drizzle-orm';
import { z } from 'zod';
import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import {
  countFleet,
  type FleetOrder,
  type FleetRows,
  type FleetSource,
  fleetFilterInput,
  fleetOrder,
  fleetSource,
} from '#server/domain/fleet/index.ts';
import { fleetSort } from '#server/domain/fleet/input.ts';
import type { FleetFields } from '#server/domain/fleet-field.ts';
import { fitList } from '#server/domain/list-bytes.ts';
import { parse } from '#server/domain/parse.ts';
import { memoize } from '#server/platform/memoize.ts';
import { type FleetRow, fleetRows } from './fleet-rows.ts';
import { readerInput } from './input.ts';

/**
 * `cursor` is `nextCursor` of the previous page; `at` skips this many rows after the cursor. `counted` requests the
 * number of matching VMs, which takes no extra time if the first page contains them all.
 */
const listFleetInput = memoize((fields: FleetFields) =>
  fleetFilterInput(fields).extend({
    sort: fleetSort.default('name'),
    limit: z.number().int().min(1).max(200).default(50),
    cursor: z.string().max(1_000).optional(),
    at: z.number().int().min(0).max(100_000_000).optional(),
    counted: z.boolean().optional(),
    ...readerInput.shape,
  }),
);
export type ListFleetInput = z.input<ReturnType<typeof listFleetInput>>;

/** Number of rows that are first read in the list's order; enough for a filter that many VMs match. */
const near = 2_000;
/**
 * From this offset on, one query reads all rows up to the page, because a limited first read would rarely reach the
 * page.
 */
const farAway = 1_000;

/**
 * Lists one page of the VMs that match, each with its current health and that of its extensions. Which VMs match, and
 * their order, may be a second out of date. A page that would be too large ends early. Throws 400 `cursor_invalid` |
 * `cursor_other_order`.
 */
export async function listFleet(
  ctx: Context,
  input: ListFleetInput,
): Promise<{ items: FleetRow[]; nextCursor: string | null; matching?: number }> {
  allow(ctx.actor, 'viewer');
  const {
    sort,
    limit,
    cursor,
    at = 0,
    counted = false,
    acceptLanguage,
    chosenLanguage,
    ...filter
  } = parse(listFleetInput(ctx.fleetFields), input);
  const source = fleetSource(ctx.fleetFields, filter, ctx.now, sort);
  const order = fleetOrder(sort, source);
  const after = cursor === undefined ? sql`true` : order.after(cursor);
  const rows = await findPage(ctx, source, { ...order, after, rows: limit + 1, at });
  const shown = rows.slice(0, limit);
  const isWhole = rows.length <= limit && at === 0 && cursor === undefined;
  const [found, count] = await Promise.all([
    fleetRows(
      ctx,
      shown.map(({ id }) => id),
      { acceptLanguage, chosenLanguage },
    ),
    counted && !isWhole ? countFleet(ctx, filter) : { matching: rows.length },
  ]);
  const { kept: items, leftOut } = fitList(found);
  const last = leftOut === 0 ? shown.at(-1) : shown.find(({ id }) => id === items.at(-1)?.id);
  const hasMore = leftOut > 0 || rows.length > limit;
  return {
    items,
    nextCursor: hasMore && last ? order.write(last.keys) : null,
    ...(counted && count),
  };
}

interface Page extends Pick<FleetOrder, 'by' | 'keys'> {
  after: SQL;
  rows: number;
  at: number;
}

type Found = { id: string; keys: string[] }[];

/**
 * Finds the VMs of a page. The matches can be anywhere in the order, even all at its end, for example if their names
 * are similar. With a filter, the start of the order is searched first, then a longer part if many VMs match. If rows
 * remain and the page is still not full, all matching VMs are sorted.
 */
async function findPage(ctx: Context, source: FleetSource, page: Page): Promise<Found> {
  const { after, at, rows: wanted } = page;
  if (source.isAll) return find(ctx, source, page, { table: inOrder(source, page, wanted + at), where: sql`true` });
  if (at >= farAway) return find(ctx, source, page, { table: source.table, where: sql`${source.each} and ${after}` });
  for (const most of [near, null]) {
    const few = most ?? Math.floor((await expected(ctx, source)) / 4);
    if (few < near) break;
    const rows = await find(ctx, source, page, { table: inOrder(source, page, few), where: source.streamCondition });
    if (rows.length === wanted || (await isShort(ctx, source, page, few))) return rows;
  }
  const all = sql`(select h.* from ${source.table} where ${source.where} and ${after} offset 0) h`;
  return find(ctx, source, page, { table: all, where: sql`true` });
}

async function find(ctx: Context, { id }: FleetSource, page: Page, { table, where }: FleetRows): Promise<Found> {
  const { rows } = await ctx.db.execute<Found[number]>(sql`
    select ${id} as id, ${page.keys} as keys from ${table} where ${where}
    order by ${page.by} limit ${page.rows} offset ${page.at}`);
  return rows;
}

/** SQL for the first `most` rows after the cursor in the list's order, whether they match the filter or not. */
function inOrder({ table, streams }: FleetSource, { after, by }: Page, most: number): SQL {
  const ends = sql`order by ${by} limit ${most}`;
  const [first, ...others] = streams.map((of) => sql`select * from ${table} where ${of} and ${after} ${ends}`);
  if (others.length === 0) return sql`(${first}) h`;
  const parts = [first, ...others].map((stream) => sql`(${stream})`);
  return sql`(select * from (${sql.join(parts, sql` union all `)}) h ${ends}) h`;
}

/** Whether at most `most` rows follow the cursor. If so, a read of `most` rows returns them all. */
async function isShort(ctx: Context, source: FleetSource, page: Page, most: number): Promise<boolean> {
  const { rowCount } = await ctx.db.execute(
    sql`select from ${inOrder(source, page, most + 1)} order by ${page.by} limit 1 offset ${most}`,
  );
  return rowCount === 0;
}

/** Returns PostgreSQL's estimate of how many VMs match. */
async function expected(ctx: Context, { table, where }: FleetSource): Promise<number> {
  const { rows } = await ctx.db.execute<{ 'QUERY PLAN': { Plan: { 'Plan Rows': number } }[] }>(
    sql`explain (format json) select from ${table} where ${where}`,
  );
  return rows[0]?.['QUERY PLAN'][0]?.Plan['Plan Rows'] ?? 0;
}
