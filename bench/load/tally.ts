import type { HttpReply } from './connection.ts';
import { Latencies } from './latencies.ts';

/** Counts the results of requests since the last reset. */
export class Tally {
  readonly latencies = new Latencies();
  /** Number of responses with an expected status. */
  good = 0;
  /** Number of all other results, by status or error. */
  readonly bad = new Map<string, number>();

  /** Counts a response. Returns whether its status was expected. */
  take(reply: HttpReply, wanted: readonly number[], milliseconds: number): boolean {
    if (reply.error === null && wanted.includes(reply.status)) {
      this.good += 1;
      this.latencies.record(milliseconds);
      return true;
    }
    const what = reply.error ?? String(reply.status);
    this.bad.set(what, (this.bad.get(what) ?? 0) + 1);
    return false;
  }

  get failures(): number {
    return [...this.bad.values()].reduce((sum, count) => sum + count, 0);
  }

  /** Lists the failures, for example `3 × 503`; empty if there are none. */
  complaint(): string {
    return [...this.bad].map(([what, count]) => `${count} × ${what}`).join(', ');
  }

  reset(): void {
    this.latencies.reset();
    this.good = 0;
    this.bad.clear();
  }
}
