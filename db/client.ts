import { drizzle, type NodePgDatabase } from 'drizzle-orm/node-postgres';
import type pg from 'pg';
import * as schema from '#db/schema/index.ts';
import { addTransactionHooks } from './transaction-hooks.ts';

/** The query layer. `$client` is the pool underneath, for prepared statements of hot paths. */
export type Database = NodePgDatabase<typeof schema> & { $client: pg.Pool };

/** A transaction as verbs get it. */
export type Transaction = Parameters<Parameters<Database['transaction']>[0]>[0];

/** Wraps a pool; the caller owns the pool and ends it. */
export function openDatabase(pool: pg.Pool): Database {
  // While a transaction holds a client, the pool does not listen to it: a lost connection would crash the process,
  // although the running statement fails anyway.
  pool.on('connect', (client) => {
    client.on('error', () => {});
    client.once('end', () => setTimeout(() => giveBack(client), endedMs).unref());
  });
  const db = drizzle(pool, { schema });
  addTransactionHooks(db);
  return db;
}

/** How long the holder of a client whose connection ended may take to release it. */
const endedMs = 1_000;

/** Drizzle never releases a client whose `begin` failed: after some restarts of the database none would be left. */
function giveBack(client: pg.PoolClient): void {
  try {
    client.release(true);
  } catch {
    // Already released.
  }
}
