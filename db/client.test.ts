import { sql } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { testDatabase } from './testing/database.ts';

test('a connection lost within a transaction fails the transaction, and nothing else', async () => {
  const db = await testDatabase();
  const lost = db.transaction(async (tx) => {
    const { rows } = await tx.execute<{ pid: number }>(sql`select pg_backend_pid() as pid`);
    await db.execute(sql`select pg_terminate_backend(${rows[0]?.pid}, 5000)`);
    await tx.execute(sql`select 1`);
  });
  await expect(lost).rejects.toThrow();
  expect((await db.execute(sql`select 1 as one`)).rows).toEqual([{ one: 1 }]);
});
