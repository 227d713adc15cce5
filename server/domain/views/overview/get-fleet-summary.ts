import { sql } from 'drizzle-orm';
import { extensionHealth, healthTransitions, vmHealth } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import type { VmHealth } from '#server/domain/reports/index.ts';
import { type Asker, shareReading } from './shared-reading.ts';
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

const byRank: readonly VmHealth[] = ['failed', 'unresponsive', 'degraded', 'progressing', 'unknown', 'healthy'];
const tiles = ['healthy', 'progressing', 'degraded', 'failed', 'unknown', 'unresponsive'] as const;

/** How the fleet is, in figures. */
export async function getFleetSummary(ctx: Context & Asker): Promise<FleetFigures> {
  allow(ctx.actor, 'viewer');
  return shareReading(ctx, 'summary', async () => {
    const hourAgo = new Date(ctx.now.getTime() - 3_600_000);
    const [counts, changes, extensions, shares] = await Promise.all([
      // By rank, for which the index alone is read.
      ctx.db.execute<{ rank: number; vms: number }>(
        sql`select rank, count(*)::int as vms from ${vmHealth} group by rank`,
      ),
      // Each transition begins with what the one before it became: in the sum only the hour's ends are left.
      ctx.db.execute<{ from: VmHealth | null; to: VmHealth | null; vms: number }>(sql`
        select "from", "to", count(*)::int as vms from ${healthTransitions}
        where extension is null and kind = 'health' and at > ${hourAgo} group by 1, 2`),
      ctx.db.execute<{ extensions: number }>(sql`select count(*)::int as extensions from ${extensionHealth}`),
      readTagShares(ctx.db),
    ]);
    const vmsOf = new Map(counts.rows.map(({ rank, vms }) => [byRank[rank], vms]));
    const changeOf = new Map<VmHealth | null, number>();
    for (const { from, to, vms } of changes.rows) {
      changeOf.set(from, (changeOf.get(from) ?? 0) - vms);
      changeOf.set(to, (changeOf.get(to) ?? 0) + vms);
    }
    return {
      vms: counts.rows.reduce((sum, { vms }) => sum + vms, 0),
      extensions: extensions.rows[0]?.extensions ?? 0,
      counts: tiles.map((health) => ({ health, vms: vmsOf.get(health) ?? 0, change: changeOf.get(health) ?? 0 })),
      groupings: groupingTags(shares),
    };
  });
}
