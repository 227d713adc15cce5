/**
 * Delays between attempts while something fails. Delays grow with the time since the first failure, up to a maximum,
 * and not with the number of attempts. Jitter keeps machines from retrying at the same time.
 */
export interface Backoff {
  /** Returns the seconds to wait before the next attempt. */
  next(): number;
  reset(): void;
}

export function backoff(
  firstSeconds: number,
  maxSeconds: number,
  { random = Math.random, now = () => performance.now() / 1000 }: { random?(): number; now?(): number } = {},
): Backoff {
  let since: number | null = null;
  return {
    next() {
      const time = now();
      since ??= time;
      const limit = Math.min(Math.max(time - since, firstSeconds), maxSeconds);
      return limit * (0.5 + random() / 2);
    },
    reset() {
      since = null;
    },
  };
}
