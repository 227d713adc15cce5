/** Figures about one job since they were last read. */
export interface JobFigures {
  runs: number;
  /** Runs that were skipped because another worker was running the job, or because its lock was not free. */
  skipped: number;
  failed: number;
  /** Number of items that the runs handled. */
  count: number;
  slowestMs: number;
}

/** Collects the figures of jobs for the log. */
export class JobTally {
  #figures: Record<string, JobFigures> = {};

  ran(job: string, count: number, ms: number): void {
    const figures = this.#of(job);
    figures.runs += 1;
    figures.count += count;
    figures.slowestMs = Math.max(figures.slowestMs, ms);
  }

  skipped(job: string): void {
    this.#of(job).skipped += 1;
  }

  failed(job: string): void {
    this.#of(job).failed += 1;
  }

  /** Returns the figures and resets them to zero. */
  take(): Readonly<Record<string, JobFigures>> {
    const figures = this.#figures;
    this.#figures = {};
    return figures;
  }

  #of(job: string): JobFigures {
    this.#figures[job] ??= { runs: 0, skipped: 0, failed: 0, count: 0, slowestMs: 0 };
    return this.#figures[job];
  }
}
