import { setTimeout as delay } from 'node:timers/promises';
import type { OpenServices } from '#server/process/services.ts';
import type { Job } from './job.ts';
import { type JobSession, openJobSession } from './job-session.ts';
import { JobTally } from './job-tally.ts';

/**
 * The first runs are spread over this many milliseconds, so that workers that start together do not run the same jobs
 * at the same time.
 */
const startJitterMs = 10_000;
/** Jobs with a period shorter than this, in seconds, keep their connection between runs. */
const keepsConnectionSeconds = 60;
const tallyEveryMs = 60 * 60_000;
/** Milliseconds for which shutdown waits for a run to finish before its statement is canceled. */
const graceMs = 5_000;
/** Milliseconds for which shutdown waits for a canceled run to end. The process exits after 12 seconds in any case. */
const cancelMs = 3_000;

/** Options for tests. */
export interface RunJobsOptions {
  startJitterMs?: number;
  graceMs?: number;
}

/**
 * Runs the jobs concurrently, each with its own period, session and lock, so that a slow or failing job does not delay
 * other jobs. Returns a function that stops the jobs: no new run starts, and current runs finish or are canceled.
 */
export function runJobs(
  services: OpenServices,
  jobs: readonly Job[],
  options: RunJobsOptions = {},
): () => Promise<void> {
  const stopping = new AbortController();
  const tally = new JobTally();
  const loops = jobs.map((job) => new JobLoop(services, job, tally, stopping.signal));
  const jitterMs = options.startJitterMs ?? startJitterMs;
  const running = loops.map((loop, index) => loop.run(Math.random() * Math.min(jitterMs, periodMs(jobs[index]))));
  const reporting = setInterval(() => services.log.info({ jobs: tally.take() }, 'jobs of the last hour'), tallyEveryMs);
  reporting.unref();
  return async () => {
    stopping.abort();
    clearInterval(reporting);
    const ended = Promise.all(running);
    if (await endsWithin(ended, options.graceMs ?? graceMs)) return;
    const cut = loops.filter((loop) => loop.isRunning);
    services.log.warn({ jobs: cut.map(({ name }) => name) }, 'jobs were canceled at shutdown');
    await Promise.allSettled(cut.map((loop) => loop.cancel()));
    await endsWithin(ended, cancelMs);
  };
}

const periodMs = (job: Job | undefined): number => (job?.periodSeconds ?? 0) * 1_000;

async function endsWithin(ended: Promise<unknown>, ms: number): Promise<boolean> {
  const timer = new AbortController();
  const inTime = await Promise.race([
    ended.then(() => true),
    delay(ms, false, { signal: timer.signal }).catch(() => false),
  ]);
  timer.abort();
  return inTime;
}

class JobLoop {
  readonly name: string;
  isRunning = false;
  readonly #services: OpenServices;
  readonly #job: Job;
  readonly #tally: JobTally;
  readonly #signal: AbortSignal;
  #session: JobSession | null = null;

  constructor(services: OpenServices, job: Job, tally: JobTally, signal: AbortSignal) {
    this.name = job.name;
    this.#services = services;
    this.#job = job;
    this.#tally = tally;
    this.#signal = signal;
  }

  async run(firstInMs: number): Promise<void> {
    // Uses the monotonic clock, so that setting the system clock back does not delay a run.
    await this.#wait(firstInMs);
    while (!this.#signal.aborted) {
      const began = performance.now();
      this.isRunning = true;
      await this.#runOnce().catch((error: unknown) => {
        this.#tally.failed(this.name);
        if (!this.#signal.aborted) this.#services.log.warn({ err: error, job: this.name }, 'a job failed');
      });
      this.isRunning = false;
      await this.#wait(Math.max(0, periodMs(this.#job) - (performance.now() - began)));
    }
    await this.#close();
  }

  async cancel(): Promise<void> {
    await this.#session?.cancel();
  }

  async #runOnce(): Promise<void> {
    const session = this.#session ?? openJobSession(this.#services, this.#job);
    this.#session = session;
    let isReusable = false;
    try {
      const began = performance.now();
      const ctx = { ...this.#services, db: session.db, now: new Date(), signal: this.#signal };
      const count = await session.withLock(() => this.#job.run(ctx));
      const ms = Math.round(performance.now() - began);
      if (count === null) this.#tally.skipped(this.name);
      else {
        this.#tally.ran(this.name, count, ms);
        const level = count > 0 && this.#job.quiet !== true ? 'info' : 'debug';
        this.#services.log[level]({ job: this.name, count, ms }, 'job done');
      }
      isReusable = this.#job.periodSeconds < keepsConnectionSeconds;
    } finally {
      if (!isReusable) await this.#close();
    }
  }

  async #close(): Promise<void> {
    const session = this.#session;
    this.#session = null;
    await session?.close().catch(() => {});
  }

  async #wait(ms: number): Promise<void> {
    await delay(ms, undefined, { signal: this.#signal }).catch(() => {});
  }
}
