import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { inject } from 'vitest';
import { type Database, openDatabase } from '#db/client.ts';

/** The databases of this worker process that still exist. */
let names: string[] = [];

/**
 * Returns the connection string of a migrated database for this test file, for tests that start processes. The database
 * is deleted after the test file.
 */
export async function testDatabaseUrl(): Promise<string> {
  const { url, template } = inject('testDatabase');
  const name = template.replace(/_template$/, `_${randomBytes(6).toString('hex')}`);
  // Copying the files takes half the time of copying the pages through the log.
  await administer((client) => client.query(`create database ${name} template ${template} strategy file_copy`));
  names.push(name);
  const own = new URL(url);
  own.pathname = `/${name}`;
  return own.href;
}

/**
 * Deletes the databases that earlier tests of this worker process used. A database that still has connections is left
 * for the next call.
 */
export async function dropTestDatabases(): Promise<void> {
  if (names.length === 0) return;
  await administer(async (client) => {
    const { rows } = await client.query<{ datname: string }>(
      'select distinct datname from pg_stat_activity where datname = any($1)',
      [names],
    );
    const used = new Set(rows.map(({ datname }) => datname));
    for (const name of names.filter((one) => !used.has(one))) {
      // Another connection may have begun in the meantime.
      await client.query(`drop database ${name}`).catch(() => used.add(name));
    }
    names = names.filter((name) => used.has(name));
  });
}

async function administer(work: (client: pg.Client) => Promise<unknown>): Promise<void> {
  const client = new pg.Client({ connectionString: inject('testDatabase').url });
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
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
