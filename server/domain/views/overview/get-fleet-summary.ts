import { sql } from 'drizzle-orm';
import { extensionHealth, vmHealth } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import type { VmHealth } from '#server/domain/reports/index.ts';
import { readHour } from './read-hour.ts';
import { type Asker, keepReading, shareReading } from './shared-reading.ts';
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
  const [counts, hour, extensions, shares] = await Promise.all([
    countByRank(ctx),
    readHour(ctx),
    countExtensions(ctx),
    readTagShares(ctx.db),
  ]);
  const changeOf = new Map<VmHealth | null, number>();
  // Each transition begins with what the one before it became: in the sum only the hour's ends are left.
  for (const { from, to, changes } of hour.transitions) {
    changeOf.set(from, (changeOf.get(from) ?? 0) - changes);
    changeOf.set(to, (changeOf.get(to) ?? 0) + changes);
  }
  return {
    vms: counts.reduce((sum, { vms }) => sum + vms, 0),
    extensions,
    counts: tiles.map((health) => ({
      health,
      vms: counts.find(({ rank }) => byRank[rank] === health)?.vms ?? 0,
      change: changeOf.get(health) ?? 0,
    })),
    groupings: groupingTags(shares),
  };
}

/** By rank, for which the index alone is read. */
async function countByRank(ctx: Asker): Promise<{ rank: number; vms: number }[]> {
  return shareReading(ctx, 'ranks', async () => {
    const { rows } = await ctx.db.execute<{ rank: number; vms: number }>(
      sql`select rank, count(*)::int as vms from ${vmHealth} group by rank`,
    );
    return rows;
  });
}

/** Their number is the one figure for which 300,000 rows are walked, and seconds matter least to it. */
async function countExtensions({ db }: Asker): Promise<number> {
  return keepReading(db, 'extensions', async () => {
    const { rows } = await db.execute<{ extensions: number }>(
      sql`select count(*)::int as extensions from ${extensionHealth}`,
    );
    return rows[0]?.extensions ?? 0;
  });
}
