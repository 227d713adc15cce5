import { sql } from 'drizzle-orm';
import { pino } from 'pino';
import { afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import type { OpenServices } from '#server/process/services.ts';
import { testServices } from '#server/testing/context.ts';
import type { Job } from './job.ts';
import { withJobLock } from './job-session.ts';
import { createJobs } from './jobs/index.ts';
import { type RunJobsOptions, runJobs } from './run-jobs.ts';

let services: OpenServices;
let lines: Record<string, unknown>[] = [];
const stops: (() => Promise<void>)[] = [];

beforeAll(async () => {
  const log = pino({ base: null, level: 'debug' }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  services = { ...(await testServices()), log, close: async () => {} };
});

beforeEach(() => {
  lines = [];
});

afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

/** Starts a worker with these jobs, without jitter. */
function startWorker(jobs: readonly Job[], options: RunJobsOptions = {}): () => Promise<void> {
  const stop = runJobs(services, jobs, { startJitterMs: 0, ...options });
  stops.push(stop);
  return stop;
}

/** Returns a job that runs 20 times per second, unless `other` overrides this. */
const job = (name: string, run: Job['run'], other: Partial<Job> = {}): Job => ({
  name,
  periodSeconds: 0.05,
  statementTimeoutSeconds: 15,
  run,
  ...other,
});

/** Returns a job that counts its runs. */
function counting(name: string, other: Partial<Job> = {}): { runs: Date[]; job: Job } {
  const runs: Date[] = [];
  return { runs, job: job(name, async ({ now }) => runs.push(now), other) };
}

const failures = (name: string) => lines.filter((line) => line.msg === 'a job failed' && line.job === name);

test('a job that hangs and a job that fails delay no other job', async () => {
  const hang = Promise.withResolvers<number>();
  const { runs, job: good } = counting('good');
  startWorker(
    [
      job('hangs', () => hang.promise),
      job('waits in the database', async ({ db }) => (await db.execute(sql`select pg_sleep(30)`)).rowCount ?? 0),
      job('fails', () => Promise.reject(new Error('disk full'))),
      good,
    ],
    { graceMs: 100 },
  );
  await expect.poll(() => runs.length).toBeGreaterThanOrEqual(5);
  await expect.poll(() => failures('fails').length).toBeGreaterThanOrEqual(2);
  expect(failures('fails')[0]).toMatchObject({ err: { message: 'disk full' } });
  expect(failures('good')).toEqual([]);
  hang.resolve(0);
});

test('two workers never run the same job concurrently, but do run different jobs', async () => {
  let running = 0;
  let most = 0;
  const one = async (): Promise<number> => {
    running += 1;
    most = Math.max(most, running);
    await services.db.execute(sql`select pg_sleep(0.02)`);
    running -= 1;
    return 1;
  };
  const hold = Promise.withResolvers<number>();
  const held = Promise.withResolvers<void>();
  const holder = job('held', () => {
    held.resolve();
    return hold.promise;
  });
  startWorker([holder, job('same', one)]);
  await held.promise;
  const { runs, job: other } = counting('other');
  const second = counting('held');
  startWorker([second.job, job('same', one), other]);
  await expect.poll(() => runs.length).toBeGreaterThanOrEqual(5);
  expect(second.runs).toEqual([]);
  expect(most).toBe(1);
  hold.resolve(0);
  await expect.poll(() => second.runs.length).toBeGreaterThanOrEqual(1);
});

test('jobs that share a lock never run at the same time', async () => {
  const hold = Promise.withResolvers<number>();
  const held = Promise.withResolvers<void>();
  const holder = job(
    'first',
    () => {
      held.resolve();
      return hold.promise;
    },
    { lock: 'shared' },
  );
  const sharing = counting('second', { lock: 'shared' });
  const { runs, job: other } = counting('free');
  startWorker([holder]);
  await held.promise;
  startWorker([sharing.job, other]);
  await expect.poll(() => runs.length).toBeGreaterThanOrEqual(5);
  expect(sharing.runs).toEqual([]);
  hold.resolve(0);
  await expect.poll(() => sharing.runs.length).toBeGreaterThanOrEqual(1);
});

test('an hourly job does not miss its run because of another job with its lock', async () => {
  const hold = Promise.withResolvers<number>();
  const held = Promise.withResolvers<void>();
  const holder = job(
    'often',
    () => {
      held.resolve();
      return hold.promise;
    },
    { lock: 'shared' },
  );
  startWorker([holder]);
  await held.promise;
  const hourly = counting('hourly', { lock: 'shared', periodSeconds: 3_600 });
  startWorker([hourly.job]);
  const waiting = sql`select from pg_stat_activity
    where application_name = 'annex-worker hourly' and wait_event = 'advisory'`;
  await expect.poll(async () => (await services.db.execute(waiting)).rowCount).toBe(1);
  hold.resolve(0);
  await expect.poll(() => hourly.runs.length).toBe(1);
});

test("a command that takes a job's lock keeps the job from running", async () => {
  const { runs, job: locked } = counting('locked');
  const { runs: others, job: other } = counting('unlocked');
  await withJobLock(services.db, 'locked', async () => {
    startWorker([locked, other]);
    await expect.poll(() => others.length).toBeGreaterThanOrEqual(3);
    expect(runs).toEqual([]);
  });
  await expect.poll(() => runs.length).toBeGreaterThanOrEqual(1);
});

test('PostgreSQL cancels a statement that takes longer than the job allows', async () => {
  const sleep: Job['run'] = async ({ db }) => (await db.execute(sql`select pg_sleep(60)`)).rowCount ?? 0;
  startWorker([job('slow', sleep, { statementTimeoutSeconds: 0.1 })]);
  await expect.poll(() => failures('slow').length).toBeGreaterThanOrEqual(2);
});

test('a job whose connection is lost fails, and runs again', async () => {
  let runs = 0;
  startWorker([
    job('lost', async ({ db }) => {
      runs += 1;
      if (runs === 1) await db.execute(sql`select pg_terminate_backend(pg_backend_pid())`);
      return (await db.execute(sql`select 1`)).rowCount ?? 0;
    }),
  ]);
  await expect.poll(() => runs).toBeGreaterThanOrEqual(2);
  expect(failures('lost')).toHaveLength(1);
});

test('a run does not continue without its lock after its connection was lost', async () => {
  const later: unknown[] = [];
  startWorker([
    job(
      'continues',
      async ({ db }) => {
        await db.execute(sql`select pg_terminate_backend(pg_backend_pid())`).catch(() => {});
        later.push(await db.execute(sql`select 1`).catch((error: unknown) => error));
        return 0;
      },
      { periodSeconds: 3_600 },
    ),
  ]);
  await expect.poll(() => later.length).toBe(1);
  expect(later[0]).toBeInstanceOf(Error);
});

test('shutdown waits for a run that finishes in time', async () => {
  const began = Promise.withResolvers<void>();
  const hold = Promise.withResolvers<number>();
  const stop = startWorker([
    job(
      'short',
      () => {
        began.resolve();
        return hold.promise;
      },
      { periodSeconds: 3_600 },
    ),
  ]);
  await began.promise;
  const stopped = stop();
  hold.resolve(3);
  await stopped;
  expect(lines).toEqual([expect.objectContaining({ msg: 'job done', job: 'short', count: 3 })]);
});

test('shutdown cancels the statement of a run that does not finish, and starts no other run', async () => {
  const began = Promise.withResolvers<void>();
  let runs = 0;
  const stop = startWorker(
    [
      job('endless', async ({ db }) => {
        runs += 1;
        began.resolve();
        return (await db.execute(sql`select pg_sleep(60)`)).rowCount ?? 0;
      }),
    ],
    { graceMs: 50 },
  );
  await began.promise;
  const sleeping = sql`select from pg_stat_activity
    where application_name = 'annex-worker endless' and query like '%pg_sleep%' and state = 'active'`;
  await expect.poll(async () => (await services.db.execute(sleeping)).rowCount).toBe(1);
  await stop();
  expect((await services.db.execute(sleeping)).rowCount).toBe(0);
  expect(runs).toBe(1);
  expect(lines).toEqual([expect.objectContaining({ msg: 'jobs were canceled at shutdown', jobs: ['endless'] })]);
});

test('jobs continue if the clock is set back', async () => {
  const { runs, job: regular } = counting('every');
  startWorker([regular]);
  await expect.poll(() => runs.length).toBeGreaterThanOrEqual(1);
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() - 3_600_000 });
  try {
    const before = runs.length;
    await expect.poll(() => runs.length).toBeGreaterThan(before + 1);
  } finally {
    vi.useRealTimers();
  }
});

test('every job of a worker runs, and no two share a name', { timeout: 60_000 }, async () => {
  const jobs = createJobs(services);
  expect(new Set(jobs.map(({ name }) => name)).size).toBe(jobs.length);
  startWorker(jobs);
  const done = () => new Set(lines.filter((line) => line.msg === 'job done').map((line) => line.job));
  await expect.poll(() => [...done()].sort(), { timeout: 30_000 }).toEqual(jobs.map(({ name }) => name).sort());
  expect(lines.filter((line) => line.msg === 'a job failed')).toEqual([]);
});
