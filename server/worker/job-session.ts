import pg from 'pg';
import { type Database, openDatabase } from '#db/client.ts';
import { publishLike } from '#server/platform/wakes/index.ts';
import type { OpenServices } from '#server/process/services.ts';
import type { Job } from './job.ts';

/** Added to the statement timeout, after which the client stops waiting for a server that is gone. */
const lostServerMs = 5_000;

/** One connection for one job: its statements, its lock and its statement timeout. */
export interface JobSession {
  db: Database;
  /** Runs the function if no other session holds the lock; returns null otherwise. */
  withLock<Result>(run: () => Promise<Result>): Promise<Result | null>;
  /** Cancels the statement that is running, through another connection. */
  cancel(): Promise<void>;
  close(): Promise<void>;
}

/** Opens a session, which connects with its first statement. */
export function openJobSession({ db: shared, log }: Pick<OpenServices, 'db' | 'log'>, job: Job): JobSession {
  const pool = new pg.Pool({
    ...shared.$client.options,
    // Lock and statements share the one connection.
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
    // The lock went with the connection before: the rest of the run fails instead of continuing without it.
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
      withLock(pool, job.lock ?? job.name, async () => {
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

const lockKey = `hashtextextended('annex job ' || $1, 0)`;

async function withLock<Result>(pool: pg.Pool, lock: string, run: () => Promise<Result>): Promise<Result | null> {
  const { rows } = await pool.query<{ taken: boolean }>(`select pg_try_advisory_lock(${lockKey}) as taken`, [lock]);
  if (rows[0]?.taken !== true) return null;
  let failed = true;
  try {
    const result = await run();
    failed = false;
    return result;
  } finally {
    // The error of the run counts, whatever becomes of the lock.
    const unlocked = unlock(pool, lock);
    await (failed ? unlocked.catch(() => {}) : unlocked);
  }
}

/** Closes a connection that may still hold the lock. */
async function unlock(pool: pg.Pool, lock: string): Promise<void> {
  const client = await pool.connect();
  let failed: Error | undefined;
  try {
    await client.query(`select pg_advisory_unlock(${lockKey})`, [lock]);
  } catch (error) {
    failed = error instanceof Error ? error : new Error('unlock failed');
  } finally {
    client.release(failed);
  }
}

/** Waits until no worker runs a job with this lock, and keeps them from starting one until the function ends. */
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
    // A connection that may still hold the lock does not go back to the pool.
    client.release(!isReleased);
  }
}
