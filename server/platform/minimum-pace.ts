/** Requires a minimum average rate from a sender, in bytes per second since the start. */
export class MinimumPace {
  /** Bytes received so far. The caller updates this. */
  received = 0;
  readonly #perSecond: number;
  readonly #patienceMs: number;
  readonly #tooSlow: () => Error;
  readonly #startedAt = performance.now();

  /** The sender may fall behind by `patienceMs` milliseconds. */
  constructor(perSecond: number, patienceMs: number, tooSlow: () => Error) {
    this.#perSecond = perSecond;
    this.#patienceMs = patienceMs;
    this.#tooSlow = tooSlow;
  }

  /**
   * Returns the next chunk. Throws the error from `tooSlow` if the average falls below the minimum before the chunk
   * arrives.
   */
  async within<T>(chunk: Promise<T>): Promise<T> {
    const allowedMs = this.#patienceMs + (this.received / this.#perSecond) * 1000;
    const leftMs = Math.max(0, allowedMs - (performance.now() - this.#startedAt));
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(this.#tooSlow()), leftMs);
    });
    try {
      return await Promise.race([chunk, timeout]);
    } finally {
      clearTimeout(timer);
    }
  }
}
