/** Work that changes the machine, such as bringing extensions to their goal. */
export interface LaneWork {
  /**
   * Returns the next command to run, `wait` while none can run, or `rest` when nothing is left to do. The work wakes
   * the lane when the result may have changed.
   */
  next(): Promise<(() => Promise<void>) | 'wait' | 'rest'>;
}

/**
 * Changes one thing on the machine at a time (AZ-G2). Polls, reports, downloads and status readings run in parallel.
 */
export class Lane {
  private readonly work: LaneWork;
  private readonly stopping = new AbortController();
  private wakeUp: (() => void) | null = null;
  private isWoken = false;
  private isIdle = false;
  private idleWaiters: (() => void)[] = [];

  constructor(work: LaneWork) {
    this.work = work;
  }

  /** Works until it is stopped. */
  async run(): Promise<void> {
    while (!this.stopping.signal.aborted) {
      this.isWoken = false;
      const next = await this.work.next();
      if (next === 'rest') this.rest();
      if (typeof next === 'string') await this.sleep();
      else await next();
    }
  }

  /** Makes the lane look for work again, once the running command has ended. */
  wake(): void {
    this.isWoken = true;
    this.isIdle = false;
    this.wakeUp?.();
  }

  /** Resolves when nothing is left to do. */
  async whenIdle(): Promise<void> {
    if (!this.isIdle) await new Promise<void>((resolve) => this.idleWaiters.push(resolve));
  }

  stop(): void {
    this.stopping.abort();
    this.wake();
  }

  private rest(): void {
    // The lane was woken while it looked for work, so there may be some.
    if (this.isWoken) return;
    this.isIdle = true;
    for (const resolve of this.idleWaiters.splice(0)) resolve();
  }

  private async sleep(): Promise<void> {
    if (this.isWoken) return;
    await new Promise<void>((resolve) => {
      this.wakeUp = resolve;
    });
    this.wakeUp = null;
  }
}
