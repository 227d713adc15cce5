/** A kind of work that changes the machine, such as bringing extensions to their goal. */
export interface LaneWork {
  /**
   * What the lane does next: a command to run; `wait` while none can run; `rest` when nothing is left to do. The work
   * wakes the lane when this may have changed.
   */
  next(): Promise<(() => Promise<void>) | 'wait' | 'rest'>;
}

/** Changes one thing on the machine at a time (AZ-G2). Polls, reports, downloads and status readings run beside it. */
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

  /** Makes it look for work again, after the command that runs. */
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
    // Woken while it looked: there may be work already.
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
