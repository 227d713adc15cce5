import { DomainError } from '#server/domain/error.ts';

/** Counts attempts per key in memory. When there are too many keys, the oldest keys are evicted. */
export interface Throttle {
  /** Counts an attempt before it runs, so that concurrent attempts count too. Throws 429 `too_many_attempts`. */
  take(key: string, now: Date): void;
  /** Stops counting an attempt that succeeded. */
  giveBack(key: string): void;
}

/** Thrown after too many failures. `isFirst` marks the first rejection in a window. */
export class LockedOut extends DomainError {
  readonly isFirst: boolean;

  constructor(seconds: number, isFirst: boolean) {
    super('rate_limited', 'too_many_attempts', { params: { seconds }, retryAfter: seconds });
    this.isFirst = isFirst;
  }
}

const maxKeys = 50_000;

/** Allows at most `attempts` failures per key within `windowMs` of its first attempt. */
export function createThrottle(attempts: number, windowMs: number): Throttle {
  const counts = new Map<string, { count: number; until: number; isLocked: boolean }>();
  return {
    take(key, now) {
      const at = now.getTime();
      let entry = counts.get(key);
      if (entry === undefined || entry.until <= at) {
        entry = { count: 0, until: at + windowMs, isLocked: false };
        counts.delete(key);
        counts.set(key, entry);
        const [oldest] = counts.keys();
        if (counts.size > maxKeys && oldest !== undefined) counts.delete(oldest);
      }
      if (entry.count >= attempts) {
        const seconds = Math.ceil((entry.until - at) / 1_000);
        const isFirst = !entry.isLocked;
        entry.isLocked = true;
        throw new LockedOut(seconds, isFirst);
      }
      entry.count += 1;
    },
    giveBack(key) {
      const entry = counts.get(key);
      if (entry && entry.count > 0) entry.count -= 1;
    },
  };
}

/** The limits on sign-ins, each per 15 minutes. */
export interface SignInThrottles {
  /**
   * Allows 10 failures per member and address, or per member for second factors, confirmations and password changes.
   */
  person: Throttle;
  /** Allows 100 failures per address. */
  address: Throttle;
  /** Allows 600 requested challenges per address. */
  asking: Throttle;
}

export function signInThrottles(): SignInThrottles {
  const windowMs = 15 * 60_000;
  return {
    person: createThrottle(10, windowMs),
    address: createThrottle(100, windowMs),
    asking: createThrottle(600, windowMs),
  };
}
