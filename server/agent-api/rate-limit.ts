import { DomainError } from '#server/domain/error.ts';
import type { Clock } from '#server/platform/clock.ts';

/** The remaining calls, and when they were last computed, in milliseconds. */
export interface Bucket {
  left: number;
  at: number;
}

/**
 * Takes one call from a token bucket that refills at `perSecond` and holds at most `burst` seconds' worth of calls. A
 * rate of 0 disables the limit. Throws 429 `too_many_requests` if the bucket is empty.
 */
export function takeFrom(bucket: Bucket, perSecond: number, at: number, burst = 3): void {
  if (perSecond === 0) return;
  const left = Math.min(perSecond * burst, bucket.left + (Math.max(0, at - bucket.at) / 1000) * perSecond);
  bucket.left = Math.max(0, left - 1);
  bucket.at = at;
  if (left >= 1) return;
  const retryAfter = Math.ceil((1 - left) / perSecond);
  throw new DomainError('rate_limited', 'too_many_requests', { params: { seconds: retryAfter }, retryAfter });
}

/** The bytes that count toward the limit, and when they were last computed, in milliseconds. */
export interface Spending {
  spent: number;
  spentAt: number;
}

/**
 * Throws 429 `report_bytes_exceeded` if the hourly limit is reached. After `Retry-After`, one minute's share of the
 * limit is available again.
 */
export function refuseWhenSpent(spending: Spending, perHour: number, at: number): void {
  const spent = settle(spending, perHour, at);
  if (spent < perHour) return;
  const retryAfter = Math.ceil((spent - perHour * (59 / 60)) / (perHour / 3_600));
  throw new DomainError('rate_limited', 'report_bytes_exceeded', {
    params: { limit: Math.ceil(perHour / 1_048_576), seconds: retryAfter },
    retryAfter,
  });
}

/** Counts bytes toward the limit. The count decreases steadily, at a rate of the full limit per hour. */
export function spend(spending: Spending, perHour: number, at: number, bytes: number): void {
  spending.spent = settle(spending, perHour, at) + bytes;
}

function settle(spending: Spending, perHour: number, at: number): number {
  const passed = Math.max(0, at - spending.spentAt) / 3_600_000;
  spending.spent = Math.max(0, spending.spent - passed * perHour);
  spending.spentAt = at;
  return spending.spent;
}

const keptKeys = 100_000;

/** A token bucket per key. The number of keys is limited; the key that has been idle longest is evicted first. */
export class RateLimit {
  readonly #perSecond: number;
  readonly #burst: number;
  readonly #clock: Clock;
  readonly #buckets = new Map<string, Bucket>();

  constructor(perSecond: number, burst: number, clock: Clock) {
    this.#perSecond = perSecond;
    this.#burst = burst;
    this.#clock = clock;
  }

  /** Takes one call from the key's bucket. Throws 429 `too_many_requests` if the bucket is empty. */
  take(key: string): void {
    const at = this.#clock().getTime();
    const bucket = this.#buckets.get(key) ?? { left: Number.POSITIVE_INFINITY, at };
    this.#buckets.delete(key);
    this.#buckets.set(key, bucket);
    if (this.#buckets.size > keptKeys) {
      const [oldest] = this.#buckets.keys();
      if (oldest !== undefined) this.#buckets.delete(oldest);
    }
    takeFrom(bucket, this.#perSecond, at, this.#burst);
  }
}
