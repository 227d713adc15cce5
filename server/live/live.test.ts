import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Database } from '#db/client.ts';
import { vms } from '#db/schema/index.ts';
import { testDatabase } from '#db/testing/database.ts';
import type { Actor } from '#server/domain/actor.ts';
import { type ChangeTopic, recordChange } from '#server/domain/changes/index.ts';
import { defaultLimits } from '#server/platform/limits.ts';
import { testActor, testWakes } from '#server/testing/context.ts';
import { type Live, type LiveMessage, openLive } from './index.ts';
import { createRing } from './ring.ts';

let db: Database;
let live: Live;

beforeAll(async () => {
  db = await testDatabase();
  await db.insert(vms).values({ id: known, name: 'known', tags: {}, createdAt: new Date(), createdBy: 'test' });
  live = openLive(testWakes(db), defaultLimits.streams);
  // Waits for the connection. When it opens, this watch gets a full reload, because it started earlier. From then on,
  // no change is missed.
  await until(watch(), 'nothing');
});

afterAll(() => live.close());

const known = '00000000-0000-7000-8000-000000000001';

const change = (topic: ChangeTopic, key: string) => db.transaction((tx) => recordChange(tx, topic, key));

function watch(lastId?: string, actor: () => Promise<Actor | null> = async () => testActor('viewer'), own = live) {
  return own.watch({ lastId, signal: new AbortController().signal, actor });
}

async function first(messages: AsyncGenerator<LiveMessage, void>): Promise<LiveMessage> {
  const { value } = await messages.next();
  if (!value) throw new Error('the watch ended');
  return value;
}

/** Reads messages until one has the key or requests a full reload. */
async function until(messages: AsyncGenerator<LiveMessage, void>, key: string): Promise<LiveMessage[]> {
  const got: LiveMessage[] = [];
  for (;;) {
    const message = await first(messages);
    got.push(message);
    if (message.everything || message.changes.some((one) => one.key === key)) return got;
  }
}

describe('a watch', () => {
  test('starts at its current position and continues with what is committed', async () => {
    const messages = watch();
    expect(await first(messages)).toMatchObject({ changes: [] });
    await change('handler', 'begun');
    expect((await until(messages, 'begun')).at(-1)).toMatchObject({ changes: [{ topic: 'handler', key: 'begun' }] });
  });

  test('catches up from its last message, with each key once', async () => {
    const messages = watch();
    const { id } = await first(messages);
    for (const key of ['a', 'b', 'a', 'b', 'last']) await change('handler', key);
    await until(watch(id), 'last');
    const again = await first(watch(id));
    expect(again.changes.map(({ key }) => key).toSorted()).toEqual(['a', 'b', 'last']);
  });

  test.each([['other.5'], ['nonsense'], [''], ['x.-1'], ['x.1e9']])('from %o everything is reloaded', async (id) => {
    expect(await first(watch(id))).toMatchObject({ everything: true, changes: [] });
  });

  test('a change that was rolled back is never sent', async () => {
    const messages = watch();
    await first(messages);
    const failed = db.transaction(async (tx) => {
      await recordChange(tx, 'handler', 'undone');
      throw new Error('undo');
    });
    await expect(failed).rejects.toThrow('undo');
    await change('handler', 'done');
    const keys = (await until(messages, 'done')).flatMap(({ changes }) => changes.map(({ key }) => key));
    expect(keys).toEqual(['done']);
  });

  test('a burst arrives in a few messages', async () => {
    const messages = watch();
    await first(messages);
    await Promise.all(Array.from({ length: 100 }, (_, i) => change('handler', `burst-${i}`)));
    await change('handler', 'burst-end');
    expect((await until(messages, 'burst-end')).length).toBeLessThanOrEqual(5);
  });

  test.each<[ChangeTopic, boolean]>([
    ['vm', true],
    ['fleet', true],
    ['attention', true],
    ['handler', true],
    ['publisher', true],
    ['member', false],
    ['invitation', false],
    ['token', false],
  ])('a viewer receives changes of %s: %s; an administrator receives all changes', async (topic, heard) => {
    const start = (await first(watch())).id;
    await change(topic, known);
    await change('handler', 'after');
    const keys = async (role: 'viewer' | 'admin') =>
      (
        await until(
          watch(start, async () => testActor(role)),
          'after',
        )
      ).flatMap(({ changes }) => changes.map((c) => c.key));
    expect((await keys('viewer')).includes(known)).toBe(heard);
    expect(await keys('admin')).toContain(known);
  });

  test("ends when the user's session ends, immediately after a change of members", async () => {
    let actor: Actor | null = testActor('viewer');
    const messages = watch(undefined, async () => actor);
    await first(messages);
    actor = null;
    await change('member', 'removed');
    expect(await messages.next()).toEqual({ done: true, value: undefined });
  });
});

test('a lost connection is reopened, and everything is reloaded', async () => {
  const messages = watch();
  const { id } = await first(messages);
  await db.execute(
    `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'annex-test-wakes' and datname = current_database()`,
  );
  const message = (await until(messages, 'nothing')).at(-1);
  expect(message).toMatchObject({ everything: true });
  await change('handler', 'back');
  expect((await until(messages, 'back')).at(-1)).toMatchObject({ changes: [{ key: 'back' }] });
  expect(await first(watch(id))).toMatchObject({ everything: true });
});

test('closing ends every watch', async () => {
  const own = openLive(testWakes(db), defaultLimits.streams);
  const messages = watch(undefined, async () => testActor('viewer'), own);
  await first(messages);
  await own.close();
  for (;;) if ((await messages.next()).done) break;
});

test('the ring keeps its newest entries, at least half of its size', () => {
  const ring = createRing(8);
  const positions = Array.from({ length: 30 }, (_, i) => {
    ring.push({ topic: 'handler', key: String(i) });
    return ring.end();
  });
  expect(ring.since(positions[0] ?? '')).toBeNull();
  expect(ring.since(positions[25] ?? '')?.map((entry) => entry !== 'reset' && entry.key)).toEqual([
    '26',
    '27',
    '28',
    '29',
  ]);
  expect(ring.since(positions[29] ?? '')).toEqual([]);
});
