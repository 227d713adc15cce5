/**
 * Starts loads at least `apartMs` milliseconds apart. A request joins the latest load if that load has the same key and
 * is still in progress.
 */
export class Paced {
  private readonly apartMs: number;
  private last = Number.NEGATIVE_INFINITY;
  private running: { what: string; result: Promise<unknown>; missed: boolean } | undefined;

  constructor(apartMs: number) {
    this.apartMs = apartMs;
  }

  /**
   * Starts a load, or joins the latest load if that load has the same key and is in progress. Calls `again` after a
   * load that was joined while it was running, because its data may be older than the request. Never cancels a load to
   * start the next load, because no load would finish if requests came faster than responses.
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
      // Calls `again` after the callers have received their result.
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
