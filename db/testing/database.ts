import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { inject } from 'vitest';
import { type Database, openDatabase } from '#db/client.ts';

/**
 * Returns the connection string of a migrated database for this test file, for tests that start processes. The database
 * is deleted with the cluster at the end of the run.
 */
export async function testDatabaseUrl(): Promise<string> {
  const { url, template } = inject('testDatabase');
  const name = template.replace(/_template$/, `_${randomBytes(6).toString('hex')}`);
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(`create database ${name} template ${template} strategy wal_log`);
  } finally {
    await client.end();
  }
  const own = new URL(url);
  own.pathname = `/${name}`;
  return own.href;
}

/**
 * Opens a migrated database for this test file: `const db = await testDatabase()` in `beforeAll`. It need not be
 * closed, because idle connections time out and do not keep the process running.
 */
export async function testDatabase(options: { connections?: number } = {}): Promise<Database> {
  const pool = new pg.Pool({
    connectionString: await testDatabaseUrl(),
    max: options.connections ?? 10,
    idleTimeoutMillis: 1_000,
    allowExitOnIdle: true,
  });
  // The cluster may be stopped while connections are still idle.
  pool.on('error', () => {});
  return openDatabase(pool);
}
