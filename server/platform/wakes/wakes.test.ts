import { sql } from 'drizzle-orm';
import pino from 'pino';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type Database, openDatabase } from '#db/client.ts';
import { testDatabase } from '#db/testing/database.ts';
import { testWakes } from '#server/testing/context.ts';
import { type NatsServer, startNats } from '#server/testing/nats-server.ts';
import { hasProgram } from '#server/testing/programs.ts';
import { natsWakes, tell, tellAfterCommit, type Wakes } from './index.ts';
import { KeptWakes } from './kept-wakes.ts';

let db: Database;

beforeAll(async () => {
  db = await testDatabase();
});

/** Listens, and records every callback. */
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

test('messages reach the listeners of their channel after the commit; a rollback sends none', async () => {
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

test('a connection that is too slow to add a listener is replaced, and all listeners receive messages', async () => {
  let connected = 0;
  const wakes = new KeptWakes(
    async () => {
      const ended = Promise.withResolvers<void>();
      const isFirst = connected++ === 0;
      return {
        listen: async (channels) => {
          if (isFirst && channels.includes('late')) throw new Error('Query read timeout');
        },
        ended: ended.promise,
        close: async () => ended.resolve(),
      };
    },
    pino({ level: 'silent' }),
  );
  const early = listenTo(wakes, 'early');
  await early.logs('back');
  const late = listenTo(wakes, 'late');
  await late.logs('back');
  expect([connected, early.log]).toEqual([2, ['back', 'lost', 'back']]);
  await Promise.all([early.close(), late.close()]);
});

test('a lost connection is reported immediately, and replaced', async () => {
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

describe.each(hasProgram('nats-server') ? ['NATS'] : [])('over %s', () => {
  let server: NatsServer;

  const open = (installation = 'one') =>
    natsWakes({ url: server.url, installation, name: 'test', log: pino({ level: 'silent' }) });

  beforeAll(async () => {
    server = await startNats();
  });
  afterAll(() => server.stop());

  test('messages arrive after the commit, savepoints included; a rollback sends none', async () => {
    const { wakes, publish } = open();
    const publishing = openDatabase(db.$client);
    tellAfterCommit(publishing, publish);
    const one = listenTo(wakes, 'a', 'b');
    const foreign = listenTo(open('two').wakes, 'a');
    await Promise.all([one.logs('back'), foreign.logs('back')]);
    await publishing.transaction(async (tx) => {
      await tell(tx, 'a', ['1', '2']);
      const undone = tx.transaction(async (inner) => {
        await tell(inner, 'a', ['undone']);
        throw new Error('undo');
      });
      await expect(undone).rejects.toThrow('undo');
      await tx.transaction((inner) => tell(inner, 'b', ['inner']));
      await tell(publishing, 'a', ['at once']);
      await one.logs('a at once');
    });
    const failed = publishing.transaction(async (tx) => {
      await tell(tx, 'a', ['undone']);
      throw new Error('undo');
    });
    await expect(failed).rejects.toThrow('undo');
    await tell(publishing, 'a', ['end']);
    await one.logs('a end');
    expect(one.log).toEqual(['back', 'a at once', 'a 1', 'a 2', 'b inner', 'a end']);
    expect(foreign.log).toEqual(['back']);
    await Promise.all([one.close(), foreign.close()]);
  });

  test('a lost server is reported immediately, and reconnected when it is back', async () => {
    const { wakes, publish } = open();
    const one = listenTo(wakes, 'a');
    await one.logs('back');
    await server.stop();
    await one.logs('lost');
    publish('a', ['to nobody']);
    await server.start();
    await vi.waitFor(() => expect(one.log).toEqual(['back', 'lost', 'back']), { timeout: 5_000 });
    publish('a', ['again']);
    await one.logs('a again');
    await one.close();
  });
});
