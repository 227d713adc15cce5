import { LockedOut } from '#server/auth/throttle.ts';
import { household } from '#server/platform/household.ts';
import { sha256Hex } from '#server/platform/keys.ts';

/** Maximum number of wrong tokens per address and window. */
const attempts = 30;
const windowMs = 60_000;
/** Maximum number of addresses in memory. If there are more, the oldest addresses are evicted. */
const addresses = 10_000;

/**
 * Maximum number of remembered tokens that have worked before. They keep working while their address is locked out, so
 * that one faulty script does not lock out other scripts.
 */
const trusted = 1_000;

/** Counts wrong tokens per address, within this process. */
export interface FailedAttempts {
  /**
   * Throws 429 with the time to wait if the address failed too often, unless the token in this header has worked
   * before.
   */
  check(address: string, header: string, now: Date): void;
  wrong(address: string, now: Date): void;
  right(header: string): void;
}

export function createFailedAttempts(): FailedAttempts {
  const failed = new Map<string, { count: number; since: number; isLocked: boolean }>();
  const known = new Set<string>();
  const standing = (address: string, now: number) => {
    const entry = failed.get(household(address));
    return entry && now - entry.since < windowMs ? entry : null;
  };
  return {
    check(address, header, now) {
      const entry = standing(address, now.getTime());
      if (!entry || entry.count < attempts || known.has(sha256Hex(header))) return;
      const seconds = Math.max(1, Math.ceil((entry.since + windowMs - now.getTime()) / 1_000));
      const isFirst = !entry.isLocked;
      entry.isLocked = true;
      throw new LockedOut(seconds, isFirst);
    },
    wrong(address, now) {
      const entry = standing(address, now.getTime());
      if (entry) {
        entry.count++;
        return;
      }
      const key = household(address);
      failed.delete(key);
      failed.set(key, { count: 1, since: now.getTime(), isLocked: false });
      forgetOldest(failed, addresses);
    },
    right(header) {
      known.add(sha256Hex(header));
      forgetOldest(known, trusted);
    },
  };
}

function forgetOldest(entries: Map<string, unknown> | Set<string>, most: number): void {
  const oldest = entries.keys().next();
  if (entries.size > most && !oldest.done) entries.delete(oldest.value);
}
