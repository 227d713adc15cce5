import { sql } from 'drizzle-orm';
import { v7 as uuid } from 'uuid';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addRelation } from '#server/domain/services/relations/index.ts';
import { type StagedUnit, UnitStage } from '#server/domain/services/testing/unit-stage.ts';
import { openAgentDoor } from '#server/testing/agent-door.ts';

let stage: UnitStage;
let store: StagedUnit;
let shop: StagedUnit;
let relation: number;

beforeAll(async () => {
  stage = await UnitStage.open();
  const storeId = await stage.service('store', { metadata: { provides: { feed: { interface: 'store' } } } });
  const shopId = await stage.service('shop', { metadata: { requires: { db: { interface: 'store' } } } });
  relation = (await addRelation(stage.ctx, { model: 'prod', endpoints: ['shop', 'store'] })).id;
  [store, shop] = [await stage.unit(storeId), await stage.unit(shopId)];
  for (const unit of [store, shop]) await unit.start();
});
afterAll(() => stage.close());

const node = (unit: StagedUnit) =>
  unit.call(`/relations/${relation}/${store.name}`).then((answer) => answer.json() as Promise<{ version: number }>);
const set = (settings: Record<string, string>) => ({ changes: [{ relation, set: settings, remove: [] }] });
const joined = () => ({ relation, remoteUnit: shop.name, version: 1 });

describe('hostile 15: the end of a run changes nothing', () => {
  const large = JSON.stringify('x'.repeat(63_000));
  test.each<[string, () => object, number]>([
    [
      'if it sets 64 nodes of 64,000 bytes',
      () => ({ changes: Array.from({ length: 64 }, (_, n) => ({ relation: n + 1, set: { a: large }, remove: [] })) }),
      413,
    ],
    [
      'if it names a relation twice',
      () => ({ changes: [...set({ a: '1' }).changes, ...set({ b: '1' }).changes] }),
      400,
    ],
    ['if it sets and removes a key', () => ({ changes: [{ relation, set: { a: '1' }, remove: ['a'] }] }), 400],
    ['if the hook failed', () => ({ ...set({ a: '1' }), exitCode: 1 }), 400],
  ])('%s', async (_, end, status) => {
    const before = await node(store);
    const run = uuid();
    await store.begin(run, 'feed-relation-joined', joined());
    expect((await store.end(run, end())).status).toBe(status);
    expect(await node(store)).toEqual(before);
    expect((await store.end(run, { exitCode: 3 })).status).toBe(200);
  });
});

describe('a run with values that nothing can store', () => {
  const large = 2 ** 31;
  test.each<[string, object, number]>([
    ['an attempt beyond the database', { attempt: large }, 400],
    ['a version beyond the database', { version: large }, 400],
    ['a hook that no file can have', { hook: '<b>-relation-joined' }, 400],
    ['a long version of the formula', { formula: '1'.repeat(500_000) }, 400],
    ['a relation in which the unit takes no part', { relation: 4711 }, 404],
    ['a relation beyond the database', { relation: 2 ** 52 }, 404],
  ])('does not begin: %s', async (_, begin, status) => {
    const began = await store.begin(uuid(), 'feed-relation-joined', { ...joined(), ...begin });
    expect(began.status).toBe(status);
  });

  test.each<[string, object]>([
    ['an exit code beyond the database', { exitCode: large }],
    ['a port above 65535', { ports: { open: ['65536/udp'], close: [] } }],
    ['a value that is no JSON', set({ a: '1,"b":2' })],
    ['a signal of 1,000 characters', { exitCode: null, signal: 'x'.repeat(1_000) }],
  ])('does not end: %s', async (_, end) => {
    const run = uuid();
    await store.begin(run, 'feed-relation-joined', joined());
    expect((await store.end(run, end)).status).toBe(400);
    expect((await store.end(run, { exitCode: 3 })).status).toBe(200);
  });

  test('hooks that are skipped: a version beyond the database', async () => {
    const skipped = [{ hook: 'feed-relation-changed', ...joined(), version: large }];
    expect((await store.call('/skipped', { skipped }, 'POST')).status).toBe(400);
  });

  test('hooks without end that were skipped: the last ones are kept', async () => {
    for (let part = 0; part < 3; part += 1) {
      const skipped = Array.from({ length: 500 }, (_, n) => ({ hook: `h${part}-${n}`, run: uuid() }));
      expect((await store.call('/skipped', { skipped }, 'POST')).status).toBe(204);
    }
    expect((await store.row()).skipped).toHaveLength(1_024);
  });

  test('the end of a relation that goes on: the unit stays in it', async () => {
    const skipped = [{ hook: 'feed-relation-broken', relation }];
    expect((await store.call('/skipped', { skipped }, 'POST')).status).toBe(204);
    await store.run('feed-relation-broken', {}, { relation });
    const { rows } = await stage.ctx.db.execute<{ state: string }>(sql`
      select state from relation_units where relation_id = ${relation} and unit_id = ${store.id}`);
    expect(rows).toEqual([{ state: 'in' }]);
  });

  test('a long reason is shortened', async () => {
    const reason = { id: 'x'.repeat(100_000), params: Array.from({ length: 200 }, () => '\u{1f4a9}'.repeat(600)) };
    const run = await store.run('feed-relation-joined', { exitCode: 1, reason }, joined());
    const { rows } = await stage.ctx.db.execute<{ bytes: number; params: number }>(sql`
      select octet_length(reason::text) as bytes, jsonb_array_length(reason -> 'params') as params from hook_runs
       where id = ${run}`);
    expect(rows[0]?.params).toBe(32);
    expect(rows[0]?.bytes).toBeLessThan(100_000);
  });
});

describe('hostile 18: an agent that looks at the wrong times', () => {
  test('is answered with 429 if it looks without end, and other agents are served', async () => {
    const limited = await openAgentDoor({ ...stage.ctx, config: { ...stage.ctx.config, vmRate: 2 } });
    try {
      const as = ({ agent }: StagedUnit) => ({ headers: { authorization: `Bearer ${agent.credential}` } });
      const look = async (unit: StagedUnit) => (await fetch(`${limited.url}/units`, as(unit))).status;
      const statuses = await Promise.all(Array.from({ length: 40 }, () => look(store)));
      expect(statuses).toContain(429);
      expect(await look(shop)).toBe(200);
    } finally {
      await limited.close();
    }
  });

  test('learns of the change with each poll if it never looks, and its polls are not held', async () => {
    const etag = (await shop.agent.call('/goal-state')).headers.get('etag') ?? '';
    const headers = { 'if-none-match': etag, 'annex-units': '"old.1.1"' };
    const { stamp } = await shop.look();
    for (let poll = 0; poll < 3; poll += 1) {
      const answer = await shop.agent.call('/goal-state?wait=30', { headers });
      expect([answer.status, answer.headers.get('annex-units')]).toEqual([304, stamp]);
    }
  });
});

describe('hostile 19: a look with an odd position', () => {
  const whole = async (query: string) => (await shop.look(query)).state.units[0]?.relations[0];

  test('above the clock, or of another epoch, gets all members', async () => {
    const { epoch } = stage.ctx;
    for (const query of [`?epoch=${epoch}&after=${relation}:99999999999999`, `?epoch=earlier&after=${relation}:1`]) {
      expect(await whole(query)).toMatchObject({ whole: true, members: [{ unit: store.name }] });
    }
  });

  test('that is given 500 times has the last value', async () => {
    const { clock = 0 } = (await whole('')) ?? {};
    const many = [...Array.from({ length: 499 }, () => `${relation}:0`), `${relation}:${clock}`].join(',');
    expect(await whole(`?epoch=${stage.ctx.epoch}&after=${many}`)).toMatchObject({ whole: false, members: [] });
  });

  test('that is negative is rejected', async () => {
    expect((await shop.agent.call(`/units?epoch=${stage.ctx.epoch}&after=${relation}:-1`)).status).toBe(400);
  });
});

test('hostile 20: wake-ups that come twice, or for what is gone, end no poll', async () => {
  const { stamp } = await shop.look();
  const etag = (await shop.agent.call('/goal-state')).headers.get('etag') ?? '';
  const headers = { 'if-none-match': etag, 'annex-units': stamp };
  const held = shop.agent.call('/goal-state?wait=30', { headers });
  for (const payload of ['r999999', `v${uuid()}`, `v${shop.vmId}`, `r${relation}`, `r${relation}`, 'r', '']) {
    await stage.ctx.db.execute(sql`select pg_notify('annex_units', ${payload})`);
  }
  await store.run('feed-relation-joined', set({ host: '"10.0.0.9"' }), joined());
  const heard = (await held).headers.get('annex-units');
  expect(heard).not.toBe(stamp);
  expect((await shop.look()).stamp).toBe(heard);
});
