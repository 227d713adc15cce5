import { fileURLToPath } from 'node:url';
import { drizzle } from 'drizzle-orm/node-postgres';
import { migrate as applyMigrations } from 'drizzle-orm/node-postgres/migrator';
import type pg from 'pg';
import { makePartitions } from './partitions.ts';

const folder = fileURLToPath(new URL('./migrations', import.meta.url));

/** Key of the advisory lock that every migration takes. The number is arbitrary. */
const lock = 4_266_399_001;

/**
 * Migrates the database to this version, and creates partitions for the next days. Concurrent calls wait for each
 * other. If the database is up to date, only missing partitions are created. `before` runs first, and receives the
 * number of migrations already applied, which is 0 for a new database.
 */
export async function migrate(pool: pg.Pool, before?: (applied: number) => Promise<void>): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query('select pg_advisory_lock($1)', [lock]);
    try {
      await before?.(await countApplied(client));
      await applyMigrations(drizzle(client), { migrationsFolder: folder });
      await makePartitions(client, new Date());
    } finally {
      await client.query('select pg_advisory_unlock($1)', [lock]);
    }
  } finally {
    client.release();
  }
}

async function countApplied(client: pg.PoolClient): Promise<number> {
  const table = 'drizzle.__drizzle_migrations';
  const { rows: found } = await client.query<{ is: boolean }>('select to_regclass($1) is not null as is', [table]);
  if (found[0]?.is !== true) return 0;
  const { rows } = await client.query<{ n: number }>(`select count(*)::int as n from ${table}`);
  return rows[0]?.n ?? 0;
}
