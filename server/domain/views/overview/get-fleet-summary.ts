import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { type CountCheck, readCountCheck, readFleetCounts } from '#server/domain/health/index.ts';
import { mildestFirst, type VmHealth } from '#server/domain/verdicts/index.ts';
import { readHour } from './read-hour.ts';
import { type MapReader, shareReading } from './readings.ts';
import { groupingTags, readTagShares } from './tag-shares.ts';

/** Number of VMs that have this health now, and the difference from an hour ago. */
export interface HealthCount {
  health: VmHealth;
  vms: number;
  change: number;
}

export interface FleetFigures {
  vms: number;
  extensions: number;
  /** One entry per health value of a VM, mildest first. The numbers add up to `vms`. */
  counts: HealthCount[];
  /** Tag names that divide the fleet into a few groups, best first. */
  groupings: string[];
  /**
   * When the counts were last checked, and when one of them was last found wrong and corrected; null before the first
   * check.
   */
  check: CountCheck | null;
}

/** Returns the number of VMs with each health value. */
export async function getFleetSummary(ctx: Context & MapReader): Promise<FleetFigures> {
  allow(ctx.actor, 'viewer');
  const [counted, check, hour, shares] = await Promise.all([
    shareReading(ctx, 'counts', () => readFleetCounts(ctx.db)),
    readCountCheck(ctx.db),
    readHour(ctx),
    readTagShares(ctx),
  ]);
  const vms = (health: VmHealth): number => counted[health] ?? 0;
  const changeOf = new Map<VmHealth | null, number>();
  // Each transition starts from the health that the previous one ended with, so only the states at the start and at the
  // end of the hour remain in the sum.
  for (const { from, to, changes } of hour.transitions) {
    changeOf.set(from, (changeOf.get(from) ?? 0) - changes);
    changeOf.set(to, (changeOf.get(to) ?? 0) + changes);
  }
  return {
    vms: mildestFirst.reduce((sum, health) => sum + vms(health), 0),
    extensions: counted.extensions ?? 0,
    counts: mildestFirst.map((health) => ({ health, vms: vms(health), change: changeOf.get(health) ?? 0 })),
    groupings: groupingTags(shares),
    check,
  };
}
