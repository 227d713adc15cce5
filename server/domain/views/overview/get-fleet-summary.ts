import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { type CountCheck, readCountCheck, readFleetCounts } from '#server/domain/health/index.ts';
import { mildestFirst, type VmHealth } from '#server/domain/verdicts/index.ts';
import { readMoved } from './read-moved.ts';
import { type MapReader, shareReading } from './readings.ts';
import { groupingTags, readTagShares } from './tag-shares.ts';

/** Number of VMs with a health value, and how it changed in the last hour. */
export interface HealthCount {
  health: VmHealth;
  vms: number;
  /** How many more VMs have this health than at `since`. Negative if there are fewer. */
  more: number;
  /** Number of these VMs that got this health after `since`, new VMs included. */
  came: number;
  /** Number of VMs that lost this health after `since` and have another health now. */
  gone: number;
}

export interface FleetFigures {
  vms: number;
  extensions: number;
  /** Start of the last hour, aligned to bars. */
  since: string;
  /** One entry per health value of a VM, mildest first. The numbers add up to `vms`. */
  counts: HealthCount[];
  /** Tag names that divide the fleet into a few groups, best first. */
  groupings: string[];
  /**
   * When the counts were last checked, and when a wrong count was last found and corrected; null before the first
   * check.
   */
  check: CountCheck | null;
}

/** Returns the size of the fleet, and the number of VMs with each health value and its changes in the last hour. */
export async function getFleetSummary(ctx: Context & MapReader): Promise<FleetFigures> {
  allow(ctx.actor, 'viewer');
  const [counted, check, moved, shares] = await Promise.all([
    shareReading(ctx, 'counts', () => readFleetCounts(ctx.db)),
    readCountCheck(ctx.db),
    readMoved(ctx),
    readTagShares(ctx),
  ]);
  const vms = (health: VmHealth): number => counted[health] ?? 0;
  return {
    vms: mildestFirst.reduce((sum, health) => sum + vms(health), 0),
    extensions: counted.extensions ?? 0,
    since: moved.since,
    counts: mildestFirst.map((health) => ({
      ...{ health, vms: vms(health) },
      more: moved.more.get(health) ?? 0,
      came: moved.came.get(health) ?? 0,
      gone: moved.gone.get(health) ?? 0,
    })),
    groupings: groupingTags(shares),
    check,
  };
}
