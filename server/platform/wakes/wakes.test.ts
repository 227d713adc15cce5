import { sql } from 'drizzle-orm';
import { beforeAll, expect, test, vi } from 'vitest';
import type { Database } from '#db/client.ts';
import { testDatabase } from '#db/testing/database.ts';
import { testWakes } from '#server/testing/context.ts';
import { tell, type Wakes } from './index.ts';

let db: Database;

beforeAll(async () => {
  db = await testDatabase();
});

/** Listens and writes down what it is told. */
function listenTo(wakes: Wakes, ...channels: string[]) {
  const log: string[] = [];
  const listening = wakes.listen(channels, {
    heard: (channel, payload) => log.push(`${channel} ${payload}`),
    lost: () => log.push('lost'),
    back: () => log.push('back'),
  });
  return { log, close: () => listening.close(), logs: (line: string) => vi.waitFor(() => expect(log).toContain(line)) };
}

const connections = async () => {
  const { rows } = await db.$client.query<{ n: number }>(
    `select count(*)::int n from pg_stat_activity where datname = current_database() and application_name = 'annex-test-wakes'`,
  );
  return rows[0]?.n;
};

test('what is told is heard after the commit, by who listens on that channel; a rollback tells nothing', async () => {
  const wakes = testWakes(db);
  const a = listenTo(wakes, 'a');
  await a.logs('back');
  const ab = listenTo(wakes, 'a', 'b');
  await ab.logs('back');
  const failed = db.transaction(async (tx) => {
    await tell(tx, 'a', ['undone']);
    throw new Error('undo');
  });
  await expect(failed).rejects.toThrow('undo');
  await db.transaction(async (tx) => {
    await tell(tx, 'a', ['1', '2']);
    await tell(tx, 'b', []);
    await tell(db, 'b', ['other']);
    await ab.logs('b other');
    expect(a.log).toEqual(['back']);
  });
  await ab.logs('a 2');
  expect(ab.log).toEqual(['back', 'b other', 'a 1', 'a 2']);
  expect(a.log).toEqual(['back', 'a 1', 'a 2']);
  expect(await connections()).toBe(1);
  await Promise.all([a.close(), ab.close()]);
  await vi.waitFor(async () => expect(await connections()).toBe(0));
});

test('a lost connection is said at once, and made again', async () => {
  const wakes = testWakes(db);
  const one = listenTo(wakes, 'a');
  await one.logs('back');
  await db.execute(sql`select pg_terminate_backend(pid) from pg_stat_activity
    where application_name = 'annex-test-wakes' and datname = current_database()`);
  await vi.waitFor(() => expect(one.log).toEqual(['back', 'lost', 'back']));
  await tell(db, 'a', ['again']);
  await one.logs('a again');
  await one.close();
  const other = listenTo(wakes, 'a');
  await other.logs('back');
  await other.close();
});
