import { randomUUID } from 'node:crypto';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/node-postgres';
import { migrate as applyMigrations } from 'drizzle-orm/node-postgres/migrator';
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

test('no column of what every report rewrites is analyzed at length; a new one needs its own `SET STATISTICS 10`', async () => {
  const { rows } = await (await testDatabase()).execute(sql`
    select attrelid::regclass || '.' || attname as at_length from pg_attribute
     where attrelid in ('agent_presence'::regclass, 'extension_pulse'::regclass) and attnum > 0 and not attisdropped
       and attstattarget is distinct from 10`);
  expect(rows).toEqual([]);
});

/** A database as it was before the migration of this number. */
async function databaseBefore(migration: number) {
  const db = await testDatabase({ connections: 1 });
  const folder = await mkdtemp(join(tmpdir(), 'annex-test-migrations-'));
  await cp(join(import.meta.dirname, 'migrations'), folder, { recursive: true });
  const journal = join(folder, 'meta', '_journal.json');
  const { entries, ...rest } = JSON.parse(await readFile(journal, 'utf8')) as { entries: { idx: number }[] };
  await writeFile(journal, JSON.stringify({ ...rest, entries: entries.filter(({ idx }) => idx < migration) }));
  await db.execute(sql`drop schema public cascade`);
  await db.execute(sql`drop schema drizzle cascade`);
  await db.execute(sql`create schema public`);
  await applyMigrations(drizzle(db.$client), { migrationsFolder: folder });
  await rm(folder, { recursive: true });
  return db;
}

test('reports from before the partitions stay as they are, and their numbers go on', async () => {
  const db = await databaseBefore(5);
  const vmId = randomUUID();
  await db.execute(sql`insert into vms values (${vmId}, 'old', '{}', now(), 'test')`);
  const insert = sql`insert into report_history (vm_id, at, kind, extension, current, document)`;
  await db.execute(sql`${insert} values (${vmId}, now() - interval '90 days', 'status', 'a', true, '{"n": 1}'),
    (${vmId}, now(), 'status', 'a', true, '{"n": 2}')`);
  await migrate(db.$client);
  await db.execute(sql`${insert} values (${vmId}, now() + interval '1 day', 'status', 'a', true, '{"n": 3}')`);
  const { rows } = await db.execute(sql`select id::int, document from report_history order by id`);
  expect(rows).toEqual([1, 2, 3].map((n) => ({ id: n, document: { n } })));
});
