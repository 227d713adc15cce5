import { isFiltered } from '../../vms/fleet-address.ts';
import type { RingInput } from './definition.ts';

/**
 * Returns the number of VMs of each ring out of `total`. Null from the first ring with a filter on, because only the
 * plan knows which members match it.
 */
export function ringSizes(rings: readonly RingInput[], total: number): (number | null)[] {
  let reached = 0;
  let isKnown = true;
  return rings.map(({ filter, upTo }) => {
    isKnown &&= !(filter && isFiltered(filter));
    if (!isKnown || upTo == null) {
      isKnown = false;
      return null;
    }
    const boundary = 'count' in upTo ? Math.min(total, upTo.count) : Math.ceil((total * Math.round(upTo.percent * 100)) / 10_000);
    const size = Math.max(0, boundary - reached);
    reached += size;
    return Number.isFinite(size) ? size : null;
  });
}
