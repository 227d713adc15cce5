/** Readings that are at least so many milliseconds apart, one at a time. */
export class Paced {
  private readonly apartMs: number;
  private last = Number.NEGATIVE_INFINITY;
  private running: { what: string; result: Promise<unknown>; missed: boolean } | undefined;

  constructor(apartMs: number) {
    this.apartMs = apartMs;
  }

  /**
   * Reads, or joins the reading of the same that is under way; `again` is called after one that was joined when it had
   * begun, because what it brings may be older than the wish. A reading is never broken off for the next one: where
   * wishes come faster than answers nothing would ever arrive.
   */
  run<T>(what: string, read: () => Promise<T>, again: () => void): Promise<T> {
    const { running } = this;
    if (running?.what === what) {
      running.missed = true;
      return running.result as Promise<T>;
    }
    const own = { what, missed: false, result: Promise.resolve<unknown>(undefined) };
    const result = this.turn().then(() => {
      own.missed = false;
      return read();
    });
    own.result = result;
    this.running = own;
    const done = () => {
      if (this.running === own) this.running = undefined;
      // Later than those who wait for the result have it.
      if (own.missed) setTimeout(again);
    };
    result.then(done, done);
    return result;
  }

  private async turn(): Promise<void> {
    const pause = this.last + this.apartMs - Date.now();
    this.last = Date.now() + Math.max(0, pause);
    if (pause > 0) await new Promise((resolve) => setTimeout(resolve, pause));
  }
}
