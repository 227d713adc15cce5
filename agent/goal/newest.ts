import { z } from 'zod';

/**
 * The highest incarnation seen, by epoch. ETags are `"<epoch>.<incarnation>"`. A portal whose database was restored
 * continues in a new epoch, and returns to the earlier epoch if the original database comes back.
 */
export const newestByEpoch = z.record(z.string(), z.int());
export type NewestByEpoch = z.infer<typeof newestByEpoch>;

const maxEpochs = 16;

/** Returns the epoch of an ETag, or null if it has none. */
export function epochOf(etag: string): string | null {
  return /^"(.+)\.\d+"$/.exec(etag)?.[1] ?? null;
}

/** Returns why a goal state is rejected as a replay, or null if it is accepted. */
export function replayFault(newest: NewestByEpoch, etag: string, incarnation: number): string | null {
  const epoch = epochOf(etag);
  const known = epoch === null ? undefined : newest[epoch];
  if (known === undefined || incarnation >= known) return null;
  return `Goal state ${incarnation} is older than ${known}, which was received before, and was not applied. Something between this machine and the portal may have replayed it: check proxies, and that the portal is reached by https`;
}

export function withNewest(newest: NewestByEpoch, etag: string, incarnation: number): NewestByEpoch {
  const epoch = epochOf(etag);
  if (epoch === null) return newest;
  const others = Object.entries(newest).filter(([known]) => known !== epoch);
  return Object.fromEntries([...others.slice(1 - maxEpochs), [epoch, Math.max(incarnation, newest[epoch] ?? 0)]]);
}
