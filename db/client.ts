import { drizzle, type NodePgDatabase } from 'drizzle-orm/node-postgres';
import type pg from 'pg';
import * as schema from '#db/schema/index.ts';
import { addTransactionHooks } from './transaction-hooks.ts';

/** The query layer. `$client` is its pool, for prepared statements of hot paths. */
export type Database = NodePgDatabase<typeof schema> & { $client: pg.Pool };

/** A transaction as verbs get it. */
export type Transaction = Parameters<Parameters<Database['transaction']>[0]>[0];

/** Wraps a pool. The caller owns the pool and must end it. */
export function openDatabase(pool: pg.Pool): Database {
  // While a transaction holds a client, the pool does not handle the client's errors: a lost connection would crash the
  // process, although the running statement fails anyway.
  pool.on('connect', (client) => {
    client.on('error', () => {});
    client.once('end', () => setTimeout(() => giveBack(client), endedMs).unref());
  });
  const db = drizzle(pool, { schema });
  addTransactionHooks(db);
  return db;
}

/** Milliseconds that the holder of a client whose connection ended has to release it. */
const endedMs = 1_000;

/** Drizzle never releases a client whose `begin` failed, so after some restarts of the database none would be left. */
function giveBack(client: pg.PoolClient): void {
  try {
    client.release(true);
  } catch {
    // The client was already released.
  }
}
