import { sql } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { migrate } from '#db/migrate.ts';
import { installation } from '#db/schema/index.ts';
import { testDatabase } from '#db/testing/database.ts';

test('a migrated database is left as it is, also by several at once', async () => {
  const db = await testDatabase();
  await db.insert(installation).values({ id: 1, epoch: 'e', fingerprint: 'f', keyCheck: 'k' });
  await Promise.all([migrate(db.$client), migrate(db.$client), migrate(db.$client)]);
  expect(await db.select().from(installation)).toHaveLength(1);
});

test('every test file has a database of its own', async () => {
  const [one, other] = await Promise.all([testDatabase(), testDatabase()]);
  const nameOf = async (db: typeof one): Promise<unknown> =>
    (await db.execute(sql`select current_database() as name`)).rows[0];
  expect(await nameOf(one)).not.toEqual(await nameOf(other));
});
