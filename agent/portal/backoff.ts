/**
 * Delays between attempts: doubled each time up to a limit, with jitter so that machines do not all retry at the same
 * time.
 */
export interface Backoff {
  /** Returns the seconds to wait before the next attempt. */
  next(): number;
  reset(): void;
}

export function backoff(firstSeconds: number, maxSeconds: number, random: () => number = Math.random): Backoff {
  let step = firstSeconds;
  return {
    next() {
      const seconds = step * (0.5 + random() / 2);
      step = Math.min(step * 2, maxSeconds);
      return seconds;
    },
    reset() {
      step = firstSeconds;
    },
  };
}
