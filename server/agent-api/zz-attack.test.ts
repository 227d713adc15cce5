import { v7 as uuid } from 'uuid';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { addRelation } from '#server/domain/services/relations/index.ts';
import { type StagedUnit, UnitStage } from '#server/domain/services/testing/unit-stage.ts';

let stage: UnitStage;
let store: StagedUnit;
let shop: StagedUnit;
let relation: number;
const bad: string[] = [];
beforeAll(async () => {
  stage = await UnitStage.open();
  const storeId = await stage.service('store', { metadata: { provides: { feed: { interface: 'store' } } } });
  const shopId = await stage.service('shop', { metadata: { requires: { db: { interface: 'store' } } } });
  relation = (await addRelation(stage.ctx, { model: 'prod', endpoints: ['shop', 'store'] })).id;
  [store, shop] = [await stage.unit(storeId), await stage.unit(shopId)];
  for (const unit of [store, shop]) await unit.start();
});
afterAll(() => stage.close());
const note = async (what: string, answer: Response) => {
  const text = await answer.text();
  if (answer.status >= 500) bad.push(`${answer.status} ${what} ${text.slice(0, 200)}`);
  console.log(answer.status, what, text.slice(0, 160));
};
test('fuzz', async () => {
  for (const q of ['?boot=%00', '?epoch=%00', '?after=%00', '?boot=%ff', '?boot=', '?boot=' + 'x'.repeat(500), '?boot=%ED%A0%80', '?after=999999999999999:1', `?epoch=${stage.ctx.epoch}&after=999999999999999:999999999999999`])
    await note(`look ${q.slice(0, 60)}`, await shop.agent.call(`/units${q}`));
  const about = { relation, remoteUnit: store.name, version: 1 };
  const begins: Record<string, object> = {
    attempt: { attempt: 2 ** 40 },
    version: { version: 2 ** 40 },
    version2: { version: 2 ** 31 },
    relationHuge: { relation: 2 ** 52 },
    relationMissing: { relation: 4711 },
    tiny: { timeoutSeconds: 1e-300 },
    formula: { formula: 'x'.repeat(500_000) },
    hookEmpty: { hook: '' },
    hookScript: { hook: '<script>alert(1)</script>' },
    hookNul: { hook: 'a\u0000b' },
    hookSurrogate: { hook: 'a\ud800b' },
    boot: { boot: '\u0000' },
  };
  for (const [what, more] of Object.entries(begins)) {
    const run = uuid();
    await note(`begin ${what}`, await shop.begin(run, 'db-relation-changed', { ...about, ...more }));
    await note(`end after ${what}`, await shop.end(run));
  }
  const ends: Record<string, object> = {
    exit: { exitCode: 2 ** 40 },
    exit2: { exitCode: -(2 ** 40) },
    seconds: { seconds: 1e308 },
    signal: { exitCode: null, signal: 'x'.repeat(300_000) },
    views: { views: Array.from({ length: 5000 }, (_, n) => ({ settings: n })) },
    viewsHuge: { views: [{ relation: 2 ** 52, unit: 'a/1', version: 2 ** 52 }, { settings: 2 ** 52 }] },
    reason: { exitCode: 1, reason: { id: '__proto__', params: ['\u202e<script>'] } },
    reasonLong: { exitCode: 1, reason: { id: 'x'.repeat(400_000), params: [] } },
    reasonParams: { exitCode: 1, reason: { id: 'x', params: Array.from({ length: 10_000 }, () => 'y') } },
    proto: { changes: [{ relation, set: JSON.parse('{"__proto__":"1","constructor":"2"}'), remove: [] }] },
    notJson: { changes: [{ relation, set: { a: 'not json' }, remove: [] }] },
    relHuge: { changes: [{ relation: 2 ** 52, set: { a: '1' }, remove: [] }] },
    removeMany: { changes: [{ relation, set: {}, remove: Array.from({ length: 50_000 }, (_, n) => `k${n}`) }] },
    removeTwice: { changes: [{ relation, set: {}, remove: ['a', 'a'] }] },
    portBig: { ports: { open: ['99999/tcp'], close: [] } },
    portBigClose: { ports: { open: [], close: ['99999/tcp'] } },
    portBoth: { ports: { open: ['80/tcp', '80/tcp'], close: ['80/tcp'] } },
  };
  for (const [what, more] of Object.entries(ends)) {
    const run = uuid();
    await shop.begin(run, 'db-relation-changed', about);
    await note(`end ${what}`, await shop.end(run, more));
  }
  // raw bodies
  const run = uuid();
  for (const body of ['', '{', 'null', '[]', '"\\ud800"', '{"__proto__":{}}', '['.repeat(50_000), '\u0000', Buffer.from([0xff, 0xfe]), '{"phase":"begin","phase":"end"}', '{"phase":"begin","hook":"install","attempt":1e400}'])
    await note(`raw ${String(body).slice(0, 20)}`, await shop.agent.call(`/units/${shop.name}/runs/${run}`, { method: 'PUT', body }));
  const skips: Record<string, object> = {
    version: { hook: 'db-relation-changed', ...about, version: 2 ** 40 },
    relation: { hook: 'db-relation-changed', ...about, relation: 2 ** 52 },
    relationHook: { hook: 'db-relation-broken', relation: 2 ** 52 },
    formula: { hook: 'install', formula: 'x'.repeat(400_000) },
    settings: { hook: 'config-changed', version: 2 ** 52 },
    run: { hook: 'install', run: uuid() },
  };
  for (const [what, one] of Object.entries(skips))
    await note(`skip ${what}`, await shop.agent.call(`/units/${shop.name}/skipped`, { method: 'POST', body: JSON.stringify({ skipped: [one] }) }));
  const many = Array.from({ length: 500 }, (_, n) => ({ hook: `h${n}`, run: uuid() }));
  await note('skip 500', await shop.agent.call(`/units/${shop.name}/skipped`, { method: 'POST', body: JSON.stringify({ skipped: many }) }));
  await note('skip twice', await shop.agent.call(`/units/${shop.name}/skipped`, { method: 'POST', body: JSON.stringify({ skipped: [ { hook: 'db-relation-changed', ...about }, { hook: 'db-relation-changed', ...about } ] }) }));
  await note('skip broken', await shop.agent.call(`/units/${shop.name}/skipped`, { method: 'POST', body: JSON.stringify({ skipped: [ { hook: 'db-relation-broken', relation }, { hook: 'db-relation-broken', relation } ] }) }));
  for (const p of ['/units/%00/1/settings', '/units/a/%00/settings', '/units/..%2f/1/settings', '/units/%ff/1', `/units/${shop.name}/relations/999999999999999/%00/1`, `/units/${shop.name}/relations/${relation}/%00/1`, `/units/${store.name}/settings`, `/units/${store.name}/relations/${relation}/${store.name}`])
    await note(p, await shop.agent.call(p));
  await note('look', await shop.agent.call('/units'));
  const r2 = uuid();
  await store.begin(r2, 'feed-relation-changed', { relation, remoteUnit: shop.name, version: 1 });
  for (const range of ['bytes 0-1/*', 'bytes 999999999999999-999999999999999/*', 'bytes 0-5/3', 'x', 'bytes 5-9/10'])
    await note(`log ${range}`, await store.agent.call(`/units/${store.name}/runs/${r2}/log`, { method: 'POST', body: 'ab', headers: { 'content-range': range } }));
  await note('log gz', await store.agent.call(`/units/${store.name}/runs/${r2}/log`, { method: 'POST', body: 'ab', headers: { 'content-encoding': 'gzip' } }));
  await note('log of other', await shop.agent.call(`/units/${store.name}/runs/${r2}/log`, { method: 'POST', body: 'ab' }));
  await note('end of other', await shop.agent.call(`/units/${store.name}/runs/${r2}`, { method: 'PUT', body: JSON.stringify({ phase: 'end', exitCode: 0, signal: null, timedOut: false, seconds: 1, output: '', views: [], reason: null }) }));
  for (const body of ['null', '[]', '{}', '{"internalAddress":"127.0.0.1"}', '{"internalAddress":"169.254.169.254"}', '{"internalAddress":"::ffff:127.0.0.1"}', '{"internalAddress":"0x7f.1"}', '{"internalAddress":"x"}'])
    await note(`instance ${body}`, await store.agent.call('/instance', { method: 'PUT', body }));
  await note('delete alive', await store.agent.call(`/units/${store.name}`, { method: 'DELETE' }));
  console.log(bad.join('\n'));
  expect(bad).toEqual([]);
}, 120_000);
