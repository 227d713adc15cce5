import pg from 'pg';
import { type Database, openDatabase } from '#db/client.ts';
import { publishLike } from '#server/platform/wakes/index.ts';
import type { OpenServices } from '#server/process/services.ts';
import type { Job } from './job.ts';

/** Milliseconds for which the client waits, beyond the statement timeout, for a server that does not respond. */
const lostServerMs = 5_000;

/**
 * The only database connection of a job. It runs the job's statements with their timeout, and holds the job's locks.
 */
export interface JobSession {
  db: Database;
  /**
   * Runs the function as soon as no other job with the same lock is running. Returns null without running it if another
   * worker is running this job, or if the lock is not free within the statement timeout.
   */
  withLock<Result>(run: () => Promise<Result>): Promise<Result | null>;
  /** Cancels the running statement through another connection. */
  cancel(): Promise<void>;
  close(): Promise<void>;
}

/** What a session needs to know of its job. */
type SessionJob = Pick<Job, 'name' | 'statementTimeoutSeconds' | 'lock'>;

/** Opens a session. It connects when its first statement runs. */
export function openJobSession({ db: shared, log }: Pick<OpenServices, 'db' | 'log'>, job: SessionJob): JobSession {
  const pool = new pg.Pool({
    ...shared.$client.options,
    // The lock and the statements must share a connection.
    max: 1,
    idleTimeoutMillis: 0,
    application_name: `annex-worker ${job.name}`,
    statement_timeout: job.statementTimeoutSeconds * 1_000,
    query_timeout: job.statementTimeoutSeconds * 1_000 + lostServerMs,
  });
  pool.on('error', (error) => log.warn({ err: error, job: job.name }, 'a job lost its database connection'));
  let backend: number | null = null;
  let isLocked = false;
  pool.on('connect', (client: pg.PoolClient & { processID?: number }) => {
    // The lock was lost with the previous connection. Closes the new one, so that the run fails instead of continuing
    // without the lock.
    if (isLocked) void client.end();
    else backend = client.processID ?? null;
  });
  pool.on('remove', () => {
    backend = null;
  });
  const db = openDatabase(pool);
  publishLike(db, shared);
  return {
    db,
    withLock: (run) =>
      withLocks(pool, job, async () => {
        isLocked = true;
        try {
          return await run();
        } finally {
          isLocked = false;
        }
      }),
    cancel: async () => {
      if (backend !== null) await shared.$client.query('select pg_cancel_backend($1)', [backend]);
    },
    close: () => pool.end(),
  };
}

/** PostgreSQL's error code for a statement that timed out or was canceled. */
const queryCanceled = '57014';
const lockKey = `hashtextextended('annex job ' || $1, 0)`;

async function withLocks<Result>(pool: pg.Pool, job: SessionJob, run: () => Promise<Result>): Promise<Result | null> {
  const { rows } = await pool.query<{ taken: boolean }>(`select pg_try_advisory_lock(${lockKey}) as taken`, [job.name]);
  if (rows[0]?.taken !== true) return null;
  let failed = true;
  try {
    // Waits for the lock. If the run were skipped instead, the next run might not get the lock either.
    const result = job.lock === undefined || (await waitForLock(pool, job.lock)) ? await run() : null;
    failed = false;
    return result;
  } finally {
    // If the run failed, throws its error even if unlocking fails too.
    const unlocked = unlock(pool);
    await (failed ? unlocked.catch(() => {}) : unlocked);
  }
}

/** Waits for the lock. Returns false if the statement timeout expires first. */
async function waitForLock(pool: pg.Pool, lock: string): Promise<boolean> {
  try {
    await pool.query(`select pg_advisory_lock(${lockKey})`, [lock]);
    return true;
  } catch (error) {
    if (error instanceof pg.DatabaseError && error.code === queryCanceled) return false;
    throw error;
  }
}

/** Releases the locks. If this fails, closes the connection, because it may still hold them. */
async function unlock(pool: pg.Pool): Promise<void> {
  const client = await pool.connect();
  let failed: Error | undefined;
  try {
    await client.query('select pg_advisory_unlock_all()');
  } catch (error) {
    failed = error instanceof Error ? error : new Error('unlock failed');
  } finally {
    client.release(failed);
  }
}

/** Waits until no worker is running a job with this lock, and prevents new runs until `run` ends. */
export async function withJobLock<Result>(db: Database, lock: string, run: () => Promise<Result>): Promise<Result> {
  const client = await db.$client.connect();
  let isReleased = false;
  try {
    await client.query(`select pg_advisory_lock(${lockKey})`, [lock]);
    const result = await run();
    await client.query(`select pg_advisory_unlock(${lockKey})`, [lock]);
    isReleased = true;
    return result;
  } finally {
    // A connection that may still hold the lock must not return to the pool.
    client.release(!isReleased);
  }
}
