import { ringTakes, wholeShare } from '#server/domain/rollout-rules/rings.ts';
import type { Limit } from '#server/domain/rollout-rules/stored.ts';
import { isFiltered } from '../../vms/fleet-address.ts';
import type { SentRing } from './definition.ts';

/**
 * Returns the number of VMs of each ring out of `members`, as the plan computes it. Null for the first ring with a
 * filter and for all later rings, because only the plan knows which members match it.
 */
export function ringSizes(rings: readonly SentRing[], members: number): (number | null)[] {
  let taken: number | null = 0;
  return rings.map(({ filter, upTo }) => {
    const limit = limitOf(upTo);
    if (taken === null || limit === undefined || (filter && isFiltered(filter))) {
      taken = null;
      return null;
    }
    const size = ringTakes(limit, { members, taken, matching: members - taken });
    taken += size;
    return size;
  });
}

/** Returns a limit in the form of the rules; undefined if it is not a number that the portal accepts. */
function limitOf(upTo: SentRing['upTo']): Limit | null | undefined {
  if (upTo == null) return null;
  if ('count' in upTo) return Number.isInteger(upTo.count) && upTo.count > 0 ? { count: upTo.count } : undefined;
  const share = Math.round(upTo.percent * 100);
  return share > 0 && share <= wholeShare ? { share } : undefined;
}
