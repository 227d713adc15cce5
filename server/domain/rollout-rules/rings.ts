import type { Limit, RingDefinition } from './stored.ts';

/** Everything, in hundredths of a percent. */
export const wholeShare = 10_000;

/** Returns a share of `total`, rounded up, in whole numbers. */
export const shareUp = (total: number, share: number): number =>
  Number((BigInt(total) * BigInt(share) + BigInt(wholeShare - 1)) / BigInt(wholeShare));

/** Returns a share of `total`, rounded down, in whole numbers. */
export const shareDown = (total: number, share: number): number =>
  Number((BigInt(total) * BigInt(share)) / BigInt(wholeShare));

/** Returns how many members the ring and all earlier rings have together at most (RO-8); null without a limit. */
export function boundaryOf(upTo: Limit | null, members: number): number | null {
  if (upTo === null) return null;
  return 'count' in upTo ? Math.min(upTo.count, members) : shareUp(members, upTo.share);
}

/**
 * Returns how many members a ring takes: of those that match its filter and are in no earlier ring (`matching`), as
 * many as fit below its boundary. `taken` is the number of members of all earlier rings.
 */
export function ringTakes(
  upTo: Limit | null,
  { members, taken, matching }: { members: number; taken: number; matching: number },
): number {
  const boundary = boundaryOf(upTo, members);
  return boundary === null ? matching : Math.max(0, Math.min(matching, boundary - taken));
}

/** Returns the size of each ring. `matching` counts a ring's matches that are in no earlier ring; without it, all match. */
export function ringSizes(
  rings: readonly Pick<RingDefinition, 'upTo'>[],
  members: number,
  matching?: (ring: number, taken: number) => number,
): number[] {
  let taken = 0;
  return rings.map(({ upTo }, ring) => {
    const size = ringTakes(upTo, { members, taken, matching: matching?.(ring, taken) ?? members - taken });
    taken += size;
    return size;
  });
}

/** Returns how many members of a ring may be in flight: a share is rounded down, and at least 1 (RO-11). */
export const inFlightLimit = (limit: Limit, size: number): number =>
  'count' in limit ? limit.count : Math.max(1, shareDown(size, limit.share));

/** Returns how many members may have moved since the plan (RO-5). */
export function maxMoved(members: number, share: number | null): number {
  if (share !== null) return shareDown(members, share);
  return members <= 100 ? 0 : shareDown(members, 100);
}

/**
 * Returns the neighboring rings, by position, between which boundaries can move: none of them has opened or has a
 * filter (RO-34).
 */
export function movableRuns(rings: readonly Pick<RingDefinition, 'filter'>[], opened: readonly boolean[]): number[][] {
  const runs: number[][] = [[]];
  rings.forEach(({ filter }, ring) => {
    if (filter !== null || opened[ring] === true) runs.push([]);
    else runs.at(-1)?.push(ring);
  });
  return runs.filter(({ length }) => length > 1);
}

/**
 * Returns what is wrong with the boundaries of rings: shares and numbers must rise, and the last ring must take
 * everything that is left.
 */
export function boundaryFaults(
  rings: readonly Pick<RingDefinition, 'upTo' | 'filter'>[],
): { ring: number; code: 'ring_shares' | 'ring_last' }[] {
  const faults: { ring: number; code: 'ring_shares' | 'ring_last' }[] = [];
  const highest = { share: 0, count: 0 };
  rings.forEach(({ upTo }, ring) => {
    if (upTo === null) return;
    const [unit, value] = 'share' in upTo ? (['share', upTo.share] as const) : (['count', upTo.count] as const);
    if (value <= highest[unit]) faults.push({ ring, code: 'ring_shares' });
    highest[unit] = Math.max(highest[unit], value);
  });
  const last = rings.at(-1);
  const isWhole = last?.upTo === null || (last?.upTo && 'share' in last.upTo && last.upTo.share === wholeShare);
  if (last !== undefined && (last.filter !== null || !isWhole)) {
    const ring = rings.length - 1;
    return [...faults.filter((fault) => fault.ring !== ring), { ring, code: 'ring_last' }];
  }
  return faults;
}
