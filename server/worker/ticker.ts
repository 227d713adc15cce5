import type { Services } from '#server/domain/context.ts';
import type { OpenServices } from '#server/process/services.ts';

/** Something that happens by time. `run` says how many things it dealt with. */
export interface Job {
  name: string;
  everyMs: number;
  /** Every day's work, not worth a line in the log. */
  quiet?: boolean;
  run(services: Services, now: Date): Promise<number>;
}

/** Any fixed number: of several workers only one does a job at a time. */
const lock = 4_266_399_003;

/** Does each job when it is due, one after the other; returns how to stop. A job that fails is tried again in its time. */
export function startTicker(services: OpenServices, jobs: readonly Job[]): () => Promise<void> {
  // Not by the time of day: where somebody sets the clock back, nothing would be due for as long.
  const due = new Map<Job, number>(jobs.map((job) => [job, 0]));
  let round: Promise<void> = Promise.resolve();
  let stopped = false;
  let timer: NodeJS.Timeout;

  const tick = async (): Promise<void> => {
    for (const job of jobs) {
      if (stopped || (due.get(job) ?? 0) > performance.now()) continue;
      due.set(job, performance.now() + job.everyMs);
      await runAlone(services, job).catch((error: unknown) => {
        services.log.warn({ err: error, job: job.name }, 'a job failed');
      });
    }
  };
  const loop = (): void => {
    round = tick().then(() => {
      if (!stopped) timer = setTimeout(loop, 1_000);
    });
  };
  loop();
  return async () => {
    stopped = true;
    clearTimeout(timer);
    await round;
  };
}

/** Runs a job while no other worker runs one; does nothing where one does. */
export async function runAlone(services: OpenServices, job: Job): Promise<void> {
  const client = await services.db.$client.connect();
  let broken: Error | undefined;
  try {
    const { rows } = await client.query<{ taken: boolean }>('select pg_try_advisory_lock($1) as taken', [lock]);
    if (rows[0]?.taken !== true) return;
    try {
      const count = await job.run(services, new Date());
      if (count > 0 && job.quiet !== true) services.log.info({ job: job.name, count }, 'cleared');
    } finally {
      await client.query('select pg_advisory_unlock($1)', [lock]);
    }
  } catch (error) {
    broken = error instanceof Error ? error : new Error('a job failed');
    throw error;
  } finally {
    // A connection that may still hold the lock is not given back to the pool.
    client.release(broken);
  }
}

/** Does something while no worker runs a job, and waits for that. */
export async function withTickerLock<Result>(db: Services['db'], run: () => Promise<Result>): Promise<Result> {
  const client = await db.$client.connect();
  let isReleased = false;
  try {
    await client.query('select pg_advisory_lock($1)', [lock]);
    const result = await run();
    await client.query('select pg_advisory_unlock($1)', [lock]);
    isReleased = true;
    return result;
  } finally {
    // A connection that may still hold the lock is not given back to the pool.
    client.release(!isReleased);
  }
}
