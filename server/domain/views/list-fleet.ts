import { sql } from 'drizzle-orm';
import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { parse } from '#server/domain/parse.ts';
import { countFleet } from './count-fleet.ts';
import { type FleetSource, fleetSource } from './fleet-filter.ts';
import { fleetOrder, ordersByHealth } from './fleet-order.ts';
import { type FleetRow, fleetRows } from './fleet-rows.ts';
import { type ListFleetInput, listFleetInput } from './input.ts';

/**
 * So many VMs are found and ordered at once. Of more, the first ones are soon met on a walk in the list's order, unless
 * they all stand at its end, as VMs that are named alike do: then a walk past a million others takes seconds.
 */
const few = 100_000;
/** From so many rows on it is cheaper to find out at once which VMs match than to ask of each. */
const farAway = 1_000;

/**
 * A page of the VMs that match, each with its health and that of its extensions as of now; which ones match, and their
 * order, may be a second old. Throws 400 `cursor_invalid`, `cursor_other_order`.
 */
export async function listFleet(
  ctx: Context,
  input: ListFleetInput,
): Promise<{ items: FleetRow[]; nextCursor: string | null; matching?: number }> {
  allow(ctx.actor, 'viewer');
  const { sort, limit, cursor, at = 0, counted = false, ...filter } = parse(listFleetInput, input);
  const source = fleetSource(filter, ctx.now, { byHealth: ordersByHealth(sort), deep: at >= farAway });
  const order = fleetOrder(sort, source);
  const after = cursor === undefined ? sql`true` : order.after(cursor);
  const { table, where } = !source.isAll && (await expected(ctx, source)) <= few ? atOnce(source) : source;
  const { rows } = await ctx.db.execute<{ id: string; keys: string[] }>(sql`
    select ${source.id} as id, ${order.keys} as keys from ${table}
    where ${where} and ${after} order by ${order.by} limit ${limit + 1} offset ${at}`);
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  const isWhole = rows.length <= limit && at === 0 && cursor === undefined;
  const [items, count] = await Promise.all([
    fleetRows(
      ctx,
      shown.map(({ id }) => id),
    ),
    counted && !isWhole ? countFleet(ctx, filter) : { matching: rows.length },
  ]);
  return {
    items,
    nextCursor: rows.length > limit && last ? order.write(last.keys) : null,
    ...(counted && count),
  };
}

/** How many VMs the database expects to match, without looking. */
async function expected(ctx: Context, { table, where }: FleetSource): Promise<number> {
  const { rows } = await ctx.db.execute<{ 'QUERY PLAN': { Plan: { 'Plan Rows': number } }[] }>(
    sql`explain (format json) select from ${table} where ${where}`,
  );
  return rows[0]?.['QUERY PLAN'][0]?.Plan['Plan Rows'] ?? 0;
}

/** All that match before any is ordered. */
const atOnce = ({ table, where }: FleetSource): Pick<FleetSource, 'table' | 'where'> => ({
  table: sql`(select h.* from ${table} where ${where} offset 0) h`,
  where: sql`true`,
});
