import type { Logger } from 'pino';

const quietMs = 60_000;

/** Counts rejected calls, and logs their number at most once a minute. */
export class Refusals {
  readonly #log: Logger;
  #since: number | null = null;
  #sinceLast = 0;
  /** Number of rejected calls since the process started. */
  total = 0;

  constructor(log: Logger) {
    this.#log = log;
  }

  count(address: string, now: Date): void {
    this.total += 1;
    this.#sinceLast += 1;
    const at = now.getTime();
    if (this.#since !== null && at - this.#since < quietMs) return;
    this.#since = at;
    this.#log.warn({ refused: this.#sinceLast, total: this.total, address }, 'calls of stock agents were rejected');
    this.#sinceLast = 0;
  }
}
