import { DomainError } from '#server/domain/error.ts';
import type { Clock } from '#server/platform/clock.ts';

const keptKeys = 100_000;

/**
 * A token bucket per key: `perSecond` calls a second, and bursts of `burst` seconds' worth. 0 turns it off.
 * Memory is bounded: the key that was idle longest is forgotten first.
 */
export class RateLimit {
  readonly #perSecond: number;
  readonly #size: number;
  readonly #clock: Clock;
  readonly #buckets = new Map<string, { left: number; at: number }>();

  constructor(perSecond: number, burst: number, clock: Clock) {
    this.#perSecond = perSecond;
    this.#size = perSecond * burst;
    this.#clock = clock;
  }

  /** Takes one call off the key's bucket. Throws 429 `too_many_requests` when it is empty. */
  take(key: string): void {
    if (this.#perSecond === 0) return;
    const at = this.#clock().getTime();
    const known = this.#buckets.get(key);
    const left = known
      ? Math.min(this.#size, known.left + (Math.max(0, at - known.at) / 1000) * this.#perSecond)
      : this.#size;
    this.#buckets.delete(key);
    this.#buckets.set(key, { left: Math.max(0, left - 1), at });
    if (this.#buckets.size > keptKeys) {
      const [oldest] = this.#buckets.keys();
      if (oldest !== undefined) this.#buckets.delete(oldest);
    }
    if (left >= 1) return;
    const retryAfter = Math.ceil((1 - left) / this.#perSecond);
    throw new DomainError('rate_limited', 'too_many_requests', { params: { seconds: retryAfter }, retryAfter });
  }
}
