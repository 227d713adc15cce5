import { type Candidate, type LaneBusy, nextWork } from './next.ts';

/** A candidate, and the function that does its work. */
export interface LaneCandidate extends Candidate {
  run(): Promise<void>;
}

/** A kind of work that changes the machine, such as bringing extensions to their goal. */
export interface LaneWork {
  /**
   * Returns work that could be done now, `wait` while nothing can run, or `rest` when nothing is left to do. The lane
   * must be woken when the result may have changed.
   */
  candidate(): Promise<LaneCandidate | 'wait' | 'rest'>;
}

/**
 * Changes one thing on the machine at a time (AZ-G2). Polls, reports, downloads and status readings run in parallel.
 */
export class Lane {
  private readonly kinds: readonly LaneWork[];
  /** The kind of the last work, and when the lane began to do only that kind. */
  private busy: { kind: LaneBusy['kind']; since: number } | null = null;
  private readonly stopping = new AbortController();
  private wakeUp: (() => void) | null = null;
  private isWoken = false;
  private isIdle = false;
  private idleWaiters: (() => void)[] = [];

  constructor(kinds: readonly LaneWork[]) {
    this.kinds = kinds;
  }

  /** Runs one candidate after another until the lane is stopped. */
  async run(): Promise<void> {
    while (!this.stopping.signal.aborted) {
      this.isWoken = false;
      const answers = await Promise.all(this.kinds.map((work) => work.candidate()));
      const next = nextWork(
        answers.filter((answer) => typeof answer !== 'string'),
        this.busyFor(),
      );
      if (next !== null) {
        this.noteKind(next.kind);
        await next.run();
        continue;
      }
      this.busy = null;
      if (answers.every((answer) => answer === 'rest')) this.rest();
      await this.sleep();
    }
  }

  /** Makes the lane look for work again, once the current work has ended. */
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

  private busyFor(): LaneBusy | null {
    return this.busy && { kind: this.busy.kind, ms: performance.now() - this.busy.since };
  }

  private noteKind(kind: LaneBusy['kind']): void {
    if (this.busy?.kind !== kind) this.busy = { kind, since: performance.now() };
  }

  private rest(): void {
    // The lane was woken while it looked for work, so it looks again.
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
