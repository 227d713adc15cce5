import { fileURLToPath } from 'node:url';
import { drizzle } from 'drizzle-orm/node-postgres';
import { migrate as applyMigrations } from 'drizzle-orm/node-postgres/migrator';
import type pg from 'pg';
import { makePartitions } from './partitions.ts';

const folder = fileURLToPath(new URL('./migrations', import.meta.url));

/** Any fixed number; everybody who migrates an Annex database takes this lock first. */
const lock = 4_266_399_001;

/** Brings the database to this version, with partitions for the days to come. Several at once wait for each other; one that is up to date does nothing. */
export async function migrate(pool: pg.Pool): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query('select pg_advisory_lock($1)', [lock]);
    try {
      await applyMigrations(drizzle(client), { migrationsFolder: folder });
      await makePartitions(client, new Date());
    } finally {
      await client.query('select pg_advisory_unlock($1)', [lock]);
    }
  } finally {
    client.release();
  }
}
