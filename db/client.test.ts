import { sql } from 'drizzle-orm';
import pg from 'pg';
import { expect, inject, test } from 'vitest';
import { openDatabase } from './client.ts';
import { testDatabase } from './testing/database.ts';
import { afterRollback } from './transaction-hooks.ts';

test('a connection lost within a transaction fails only that transaction', async () => {
  const db = await testDatabase();
  const lost = db.transaction(async (tx) => {
    const { rows } = await tx.execute<{ pid: number }>(sql`select pg_backend_pid() as pid`);
    await db.execute(sql`select pg_terminate_backend(${rows[0]?.pid}, 5000)`);
    await tx.execute(sql`select 1`);
  });
  await expect(lost).rejects.toThrow();
  expect((await db.execute(sql`select 1 as one`)).rows).toEqual([{ one: 1 }]);
});

test('a client that is lost before its transaction begins is replaced', async () => {
  const { url } = inject('testDatabase');
  const pool = new pg.Pool({ connectionString: url, max: 1, connectionTimeoutMillis: 5_000 });
  const db = openDatabase(pool);
  try {
    pool.once('acquire', (client) =>
      (client as pg.PoolClient & { connection: { stream: { destroy(): void } } }).connection.stream.destroy(),
    );
    await expect(db.transaction(async () => {})).rejects.toThrow();
    expect((await db.execute('select 1 as one')).rows).toEqual([{ one: 1 }]);
  } finally {
    await pool.end();
  }
});

test('work after a rollback runs only if the transaction fails, on a free client, and does not replace its error', async () => {
  const { url } = inject('testDatabase');
  const pool = new pg.Pool({ connectionString: url, max: 1, connectionTimeoutMillis: 5_000 });
  const db = openDatabase(pool);
  const seen: unknown[] = [];
  try {
    const run = (fails: boolean) =>
      db.transaction(async (tx) => {
        afterRollback(tx, async () => void seen.push((await db.execute(sql`select 1 as one`)).rows[0]));
        afterRollback(tx, () => Promise.reject(new Error('the work failed')));
        if (fails) throw new Error('the transaction failed');
      });
    await run(false);
    expect(seen).toEqual([]);
    await expect(run(true)).rejects.toThrow('the transaction failed');
    expect(seen).toEqual([{ one: 1 }]);
  } finally {
    await pool.end();
  }
});
