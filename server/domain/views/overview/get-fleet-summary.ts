import { sql } from 'drizzle-orm';
import { extensionHealth, healthTransitions, vmHealth } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import type { VmHealth } from '#server/domain/reports/index.ts';
import { shareReading } from './shared-reading.ts';
import { groupingTags, readTagShares } from './tag-shares.ts';

/** VMs of one health now, and how many more (or fewer) than an hour ago. */
export interface HealthCount {
  health: VmHealth;
  vms: number;
  change: number;
}

export interface FleetFigures {
  vms: number;
  extensions: number;
  /** All six, in the order of the tiles; they add up to `vms`. */
  counts: HealthCount[];
  /** Tag names that part the fleet into a few groups, the best first. */
  groupings: string[];
}

const tiles = ['healthy', 'progressing', 'degraded', 'failed', 'unknown', 'unresponsive'] as const;

/** How the fleet is, in figures. */
export async function getFleetSummary(ctx: Context): Promise<FleetFigures> {
  allow(ctx.actor, 'viewer');
  return shareReading(ctx.db, 'summary', async () => {
    const hourAgo = new Date(ctx.now.getTime() - 3_600_000);
    const [counts, changes, extensions, shares] = await Promise.all([
      ctx.db.execute<{ health: VmHealth; vms: number }>(
        sql`select health, count(*)::int as vms from ${vmHealth} group by health`,
      ),
      // The first transition of the hour says what the VM was before it, the last what it became.
      ctx.db.execute<{ health: VmHealth; change: number }>(sql`
        with ends as (
          select (array_agg("from" order by id))[1] as before, (array_agg("to" order by id desc))[1] as after
          from ${healthTransitions}
          where extension is null and kind = 'health' and at > ${hourAgo} group by vm_id)
        select health, sum(change)::int as change
        from (select before as health, -1 as change from ends union all select after, 1 from ends) both_ends
        where health is not null group by health`),
      ctx.db.execute<{ extensions: number }>(sql`select count(*)::int as extensions from ${extensionHealth}`),
      readTagShares(ctx.db),
    ]);
    const vmsOf = new Map(counts.rows.map(({ health, vms }) => [health, vms]));
    const changeOf = new Map(changes.rows.map(({ health, change }) => [health, change]));
    return {
      vms: counts.rows.reduce((sum, { vms }) => sum + vms, 0),
      extensions: extensions.rows[0]?.extensions ?? 0,
      counts: tiles.map((health) => ({ health, vms: vmsOf.get(health) ?? 0, change: changeOf.get(health) ?? 0 })),
      groupings: groupingTags(shares),
    };
  });
}
