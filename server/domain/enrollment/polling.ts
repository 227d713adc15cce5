/** Seconds between calls of an agent that does not hold its polls. */
export const pollSeconds = 30;

/**
 * Returns the seconds until an agent should call again, with jitter: soon after a held poll, otherwise one period
 * later.
 */
export function pollAfter(heldSeconds: number, random: () => number = Math.random): number {
  return heldSeconds > 0 ? Math.round(random() * 2) : Math.round(pollSeconds * (0.8 + 0.4 * random()));
}
