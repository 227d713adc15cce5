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

test('migrating a migrated database changes nothing, even with concurrent migrations', async () => {
  const db = await testDatabase();
  await db.insert(installation).values({ id: 1, epoch: 'e', fingerprint: 'f', keyCheck: 'k' });
  await Promise.all([migrate(db.$client), migrate(db.$client), migrate(db.$client)]);
  expect(await db.select().from(installation)).toHaveLength(1);
});

test('every test file has its own database', async () => {
  const [one, other] = await Promise.all([testDatabase(), testDatabase()]);
  const nameOf = async (db: typeof one): Promise<unknown> =>
    (await db.execute(sql`select current_database() as name`)).rows[0];
  expect(await nameOf(one)).not.toEqual(await nameOf(other));
});

test('columns that every report rewrites have a low statistics target; new columns need `SET STATISTICS 10`', async () => {
  const { rows } = await (await testDatabase()).execute(sql`
    select attrelid::regclass || '.' || attname as at_length from pg_attribute
     where attrelid in ('agent_presence'::regclass, 'extension_pulse'::regclass) and attnum > 0 and not attisdropped
       and attstattarget is distinct from 10`);
  expect(rows).toEqual([]);
});

/** Creates a database that has only the migrations before `migration`. */
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

test('reports from before the partitions are kept, and their ids continue', async () => {
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

test('the authors of existing secrets and tokens are taken from the activity log; unknown authors stay unknown', async () => {
  const db = await databaseBefore(17);
  const [vmId, known, unknown] = [randomUUID(), randomUUID(), randomUUID()];
  await db.execute(sql`insert into vms values (${vmId}, 'old', '{}', now(), 'test')`);
  for (const id of [known, unknown]) {
    await db.execute(sql`insert into secrets (vm_id, id, name, fingerprint, changed_at, changed_by)
      values (${vmId}, ${id}, 'probe', 'f', now(), 'Ada')`);
  }
  const issuedAt = '2026-01-01T00:00:00.123Z';
  await db.execute(sql`insert into enrollment_tokens (vm_id, token_hash, created_at, expires_at)
    values (${vmId}, 'issued', ${issuedAt}, now()), (${vmId}, 'other', '2026-01-02', now())`);
  const act = (action: string, actor: string, at: string, after: object | null) => sql`
    insert into audit_entries (at, actor_kind, actor_id, actor_name, action, target_kind, target_id, vm_id, request_id, details, after)
    values (${at}, 'user', ${actor}, 'Ada', ${action}, 'x', 'x', ${vmId}, 'r', '{}', ${after && JSON.stringify(after)})`;
  const sealed = { protectedSettings: { $sealed: known } };
  await db.execute(act('extension.set', 'ada', '2026-01-01', sealed));
  await db.execute(act('extension.set', 'eve', '2026-01-02', sealed));
  await db.execute(act('enrollment-token.issue', 'ada', issuedAt, null));
  const applied: number[] = [];
  await migrate(db.$client, async (count) => void applied.push(count));
  expect(applied, 'what the database had before').toEqual([17]);
  const { rows: setBy } = await db.execute(sql`select id, set_by from secrets`);
  expect(Object.fromEntries(setBy.map(({ id, set_by }) => [id, set_by]))).toEqual({
    [known]: 'user:ada',
    [unknown]: null,
  });
  const { rows: issued } = await db.execute(
    sql`select token_hash, issued_by, issued_by_name from enrollment_tokens order by token_hash`,
  );
  expect(issued).toEqual([
    { token_hash: 'issued', issued_by: 'user:ada', issued_by_name: 'Ada' },
    { token_hash: 'other', issued_by: null, issued_by_name: null },
  ]);
});

test('holds of stock agents become holds of their VMs, and deadlines that a release restarted stay the same', async () => {
  const db = await databaseBefore(25);
  const [held, released, other] = [randomUUID(), randomUUID(), randomUUID()];
  for (const [n, vmId] of [held, released, other].entries()) {
    await db.execute(sql`insert into vms values (${vmId}, ${`vm-${n}`}, '{}', '2026-01-01Z', 'test')`);
    await db.execute(sql`insert into goal_states (vm_id, incarnation, etag, text, contents, cause, published_at, published_by)
      select ${vmId}, i, '"e.' || i || '"', '{}', '[]', '{"action":"vm.create"}', now(), 'test' from generate_series(1, 3) i`);
    await db.execute(sql`insert into goal_state_heads (vm_id, incarnation, etag, text, published_at, delivered_incarnation)
      values (${vmId}, 3, '"e.3"', '{}', now(), ${n === 0 ? 2 : 3})`);
    await db.execute(sql`insert into stock_agents (vm_id, container_id, granted_at, granted_by, tenant_key_at, held_at, held_by, released_at)
      values (${vmId}, ${vmId}, now(), 'test', now(), ${n === 0 ? '2026-01-02Z' : null}, ${n === 0 ? 'Ada' : null},
        ${n === 1 ? '2026-01-03Z' : null})`);
  }
  await migrate(db.$client);
  const { rows } = await db.execute(sql`
    select h.vm_id, o.since, o.by, o.past, h.held_incarnation, h.held_etag
      from goal_state_heads h left join holds o on o.vm_id = h.vm_id`);
  const of = (vmId: string) => rows.find((row) => row.vm_id === vmId);
  expect(of(held)).toMatchObject({ by: 'Ada', past: [], held_incarnation: 2, held_etag: '"e.2"' });
  expect(new Date(String(of(held)?.since)).toISOString()).toBe('2026-01-02T00:00:00.000Z');
  const past = of(released)?.past as string[][] | undefined;
  expect(past?.map((hold) => hold.map((at) => new Date(at).toISOString()))).toEqual([
    ['2026-01-01T00:00:00.000Z', '2026-01-03T00:00:00.000Z'],
  ]);
  expect(of(released)).toMatchObject({ since: null, held_incarnation: null });
  expect(of(other)).toMatchObject({ past: null, held_incarnation: null, held_etag: null });
});
