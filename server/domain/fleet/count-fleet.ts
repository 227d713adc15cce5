import { sql } from 'drizzle-orm';
import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { readFleetCounts } from '#server/domain/health/index.ts';
import { parse } from '#server/domain/parse.ts';
import { unresponsiveSeconds, type VmHealth, vmHealths } from '#server/domain/verdicts/index.ts';
import { type FleetFilter, silentFor } from './fields.ts';
import { type FleetRows, fleetSource } from './filter.ts';
import { fleetFilterInput } from './filter-input.ts';

/** Counts the VMs that match the filter. */
export async function countFleet(ctx: Context, input: FleetFilter): Promise<{ matching: number }> {
  allow(ctx.actor, 'viewer');
  const filter = parse(fleetFilterInput(ctx.fleetFields), input);
  return { matching: await count(ctx, fleetSource(ctx.fleetFields, filter, ctx.now)) };
}

export interface FleetSummary {
  total: number;
  byHealth: Record<VmHealth, number>;
  /** Number of unresponsive VMs whose agent has not called for `unresponsiveSeconds`. */
  silent: number;
  held: number;
}

/** Counts all VMs by health. */
export async function summarizeFleet(ctx: Context): Promise<FleetSummary> {
  allow(ctx.actor, 'viewer');
  const [total, counts, silent, held] = await Promise.all([
    count(ctx, fleetSource(ctx.fleetFields, {}, ctx.now)),
    readFleetCounts(ctx.db),
    count(ctx, { table: sql`vm_health h`, where: silentFor(unresponsiveSeconds / 60, ctx.now) }),
    count(ctx, { table: sql`holds o`, where: sql`o.since is not null` }),
  ]);
  const byHealth = Object.fromEntries(vmHealths.map((health) => [health, counts[health] ?? 0]));
  return { total, byHealth: byHealth as FleetSummary['byHealth'], silent, held };
}

async function count(ctx: Context, { table, where }: FleetRows): Promise<number> {
  const { rows } = await ctx.db.execute<{ n: number }>(sql`select count(*)::int as n from ${table} where ${where}`);
  return rows[0]?.n ?? 0;
}
