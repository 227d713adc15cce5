import { drizzle, type NodePgDatabase } from 'drizzle-orm/node-postgres';
import type pg from 'pg';
import * as schema from '#db/schema/index.ts';
import { addTransactionHooks } from './transaction-hooks.ts';

/** The query layer. `$client` is its connection pool, for prepared statements on hot paths. */
export type Database = NodePgDatabase<typeof schema> & { $client: pg.Pool };

/** The transaction that `Database.transaction` passes to its callback. */
export type Transaction = Parameters<Parameters<Database['transaction']>[0]>[0];

/** Wraps a pool. The caller owns the pool and must end it. */
export function openDatabase(pool: pg.Pool): Database {
  // While a transaction holds a client, the pool does not handle that client's errors. Without a handler, a lost
  // connection would crash the process. The running statement fails in any case.
  pool.on('connect', (client) => {
    client.on('error', () => {});
    client.once('end', () => setTimeout(() => giveBack(client), endedMs).unref());
  });
  const db = drizzle(pool, { schema });
  addTransactionHooks(db);
  return db;
}

/** Milliseconds to wait for a client to be released after its connection has ended. */
const endedMs = 1_000;

/**
 * Releases a client whose connection has ended. Drizzle never releases a client whose `begin` failed, so after some
 * restarts of the database the pool would run out of clients.
 */
function giveBack(client: pg.PoolClient): void {
  try {
    client.release(true);
  } catch {
    // The client was already released.
  }
}
