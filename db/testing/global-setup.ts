import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { migrate } from '#db/migrate.ts';
import { startPostgres } from '#server/platform/postgres.ts';
import { isAlive, processesIn, signal, waitUntil } from '#server/platform/processes.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The server of this run, and the migrated database that test files clone. */
    testDatabase: { url: string; template: string };
  }
}

const root = join(tmpdir(), `annex-test-${process.getuid?.() ?? 0}`);

/**
 * Starts a temporary cluster for the run and deletes it afterwards. If TEST_DATABASE_URL is set, uses that server
 * instead, and creates and drops only this run's databases there. Concurrent runs do not affect each other.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const own = process.env.TEST_DATABASE_URL;
  const server = own === undefined ? await throwAwayCluster() : { url: own, end: async () => {} };
  const run = `annex_test_${randomBytes(6).toString('hex')}`;
  const template = `${run}_template`;
  await administer(server.url, (client) => client.query(`create database ${template}`));
  const pool = new pg.Pool({ connectionString: databaseUrl(server.url, template), max: 1 });
  await migrate(pool);
  await pool.end();
  project.provide('testDatabase', { url: server.url, template });
  return async () => {
    if (own !== undefined) await administer(own, (client) => dropAll(client, run));
    await server.end();
  };
}

/** Returns the URL of another database on the same server. */
function databaseUrl(url: string, database: string): string {
  const parsed = new URL(url);
  parsed.pathname = `/${database}`;
  return parsed.href;
}

async function administer(url: string, work: (client: pg.Client) => Promise<unknown>): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}

async function dropAll(client: pg.Client, run: string): Promise<void> {
  const { rows } = await client.query<{ datname: string }>(
    'select datname from pg_database where starts_with(datname, $1)',
    [`${run}_`],
  );
  for (const { datname } of rows) await client.query(`drop database ${client.escapeIdentifier(datname)} with (force)`);
}

async function throwAwayCluster(): Promise<{ url: string; end(): Promise<void> }> {
  await mkdir(root, { recursive: true, mode: 0o700 });
  await sweep();
  const dataDir = await mkdtemp(join(root, 'c-'));
  await writeFile(join(dataDir, 'owner'), String(process.pid));
  const server = await startPostgres({
    dataDir,
    settings: {
      fsync: 'off',
      full_page_writes: 'off',
      synchronous_commit: 'off',
      shared_buffers: '128MB',
      max_connections: '300',
      autovacuum: 'off',
    },
  });
  const end = async (): Promise<void> => {
    await server.stop();
    await rm(dataDir, { recursive: true, force: true });
  };
  return { url: server.url, end };
}

/** Deletes the clusters of killed runs. */
async function sweep(): Promise<void> {
  for (const name of await readdir(root)) {
    const dataDir = join(root, name);
    const owner = Number(await readFile(join(dataDir, 'owner'), 'utf8').catch(() => Number.NaN));
    if (Number.isNaN(owner) || (await isAlive(owner))) continue;
    for (const pid of await processesIn(join(dataDir, 'data'))) signal(pid, 'SIGQUIT');
    await waitUntil(async () => (await processesIn(join(dataDir, 'data'))).length === 0, 5_000);
    await rm(dataDir, { recursive: true, force: true });
  }
}
