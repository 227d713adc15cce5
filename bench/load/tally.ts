import type { HttpReply } from './connection.ts';
import { Latencies } from './latencies.ts';

/** What came of the requests since the last reset. */
export class Tally {
  readonly latencies = new Latencies();
  /** Answers that were asked for. */
  good = 0;
  /** All else: by status, or by the error that took its place. */
  readonly bad = new Map<string, number>();

  /** Counts a reply; tells whether it was one of those asked for. */
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

  /** What went wrong, as a sentence; empty where nothing did. */
  complaint(): string {
    return [...this.bad].map(([what, count]) => `${count} × ${what}`).join(', ');
  }

  reset(): void {
    this.latencies.reset();
    this.good = 0;
    this.bad.clear();
  }
}
