import { sql } from 'drizzle-orm';
import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { parse } from '#server/domain/parse.ts';
import { countFleet } from './count-fleet.ts';
import { fleetSource } from './fleet-filter.ts';
import { fleetOrder, ordersByHealth } from './fleet-order.ts';
import { type FleetRow, fleetRows } from './fleet-rows.ts';
import { type ListFleetInput, listFleetInput } from './input.ts';

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
  const { rows } = await ctx.db.execute<{ id: string; keys: string[] }>(sql`
    select ${source.id} as id, ${order.keys} as keys from ${source.table}
    where ${source.where} and ${after} order by ${order.by} limit ${limit + 1} offset ${at}`);
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
