/** Seconds between calls of an agent whose polls the portal does not hold. */
export const pollSeconds = 30;

/**
 * Returns the seconds until an agent should call again, with jitter: up to two seconds if the poll was held, otherwise
 * about one period.
 */
export function pollAfter(heldSeconds: number, random: () => number = Math.random): number {
  return heldSeconds > 0 ? Math.round(random() * 2) : Math.round(pollSeconds * (0.8 + 0.4 * random()));
}
