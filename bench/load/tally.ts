import type { HttpReply } from './connection.ts';
import { Latencies } from './latencies.ts';

/** The results of requests since the last reset. */
export class Tally {
  readonly latencies = new Latencies();
  /** Expected responses. */
  good = 0;
  /** Everything else: by status or error. */
  readonly bad = new Map<string, number>();

  /** Counts a reply; returns whether it was expected. */
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

  /** The failures as a sentence; empty without any. */
  complaint(): string {
    return [...this.bad].map(([what, count]) => `${count} × ${what}`).join(', ');
  }

  reset(): void {
    this.latencies.reset();
    this.good = 0;
    this.bad.clear();
  }
}
