import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addRelation } from '#server/domain/services/relations/index.ts';
import { type StagedUnit, UnitStage } from '#server/domain/services/testing/unit-stage.ts';
import { openRestDoor, type RestDoor } from '#server/testing/rest-door.ts';
import { routes } from './routes/index.ts';

let door: RestDoor;
let stage: UnitStage;
let store: StagedUnit;
let shop: StagedUnit;
let relation: { id: number; number: number };
let run: string;
const model = 'prod';
const secret = 'Zebra-4711';
const text = JSON.stringify(secret);

beforeAll(async () => {
  door = await openRestDoor();
  stage = await UnitStage.open(door.services);
  const [db, feed] = [{ interface: 'store', limit: 5_000 }, { interface: 'store' }];
  const storeId = await stage.service('store', { metadata: { provides: { feed } } });
  const shopId = await stage.service('shop', { metadata: { requires: { db } } });
  relation = await addRelation(stage.ctx, { model, endpoints: ['shop', 'store'] });
  await stage.settings(storeId, 2, JSON.stringify({ title: secret }));
  await stage.ctx.db.execute(sql`update services set settings_version = 2 where id = ${storeId}`);
  store = await stage.unit(storeId);
  shop = await stage.unit(shopId);
  for (const unit of [store, shop]) await unit.start();
  const about = { relation: relation.id, remoteUnit: shop.name, version: 1 };
  const changes = [{ relation: relation.id, set: { host: text, password: text }, remove: [] }];
  run = await store.run('feed-relation-joined', { changes, output: `+0.1 INFO ${secret}\n` }, about);
  const body = `+0.1 INFO ${secret}\n`;
  await store.agent.call(`/units/${store.name}/runs/${run}/log`, { method: 'POST', body });
});
afterAll(async () => {
  await stage.close();
  await door.close();
});

test.each([
  ['wordpress', 'wordpress'],
  ['with a leading zero', 'store/01'],
  ['with a negative number', 'store/-1'],
  ['that would leave its folder', '..%2fx/1'],
  ['with a space', 'word%20press/1'],
  ['with two numbers', 'store/1%2f2'],
  ['with a NUL', 'store/%00'],
  ['of 10,000 characters', `store/${'9'.repeat(10_000)}`],
])('hostile 1: the name of a unit %s is rejected', async (_, name) => {
  const { status, body } = await door.call('GET', `/models/${model}/units/${name}`, { as: 'viewer' });
  expect([
    [404, 'not_found'],
    [422, 'invalid'],
  ]).toContainEqual([status, (body as { code: string }).code]);
});

describe('hostile 30: above a limit, a request is rejected with the limit', () => {
  const operator = (body: unknown) => ({ as: 'operator' as const, body });

  test('the 2,001st relation of a model', async () => {
    await stage.ctx.db.execute(sql`
      insert into relations (model_id, number, interface, life, clock, moved_at, created_at, created_by)
      select ${stage.modelId}, n, 'other', 'alive', 0, now(), now(), 'test' from generate_series(1001, 2999) n`);
    await stage.service('late', { metadata: { requires: { db: { interface: 'store' } } } });
    const body = { endpoints: ['late', 'store'] };
    const refused = await door.expect('addRelation', { model }, [409, 'relations_too_many'], operator(body));
    expect(refused.detail).toMatch(/2[,.]?000/);
    await stage.ctx.db.execute(sql`delete from relations where number > 1000`);
  });

  test('the 1,001st unit of a service', async () => {
    await stage.ctx.db.execute(sql`
      insert into units (id, model_id, service_id, name, number, vm_id, life, turn, formula_version, settings_version,
                         record, created_at, created_by)
      select gen_random_uuid(), model_id, service_id, 'shop/' || n, n, vm_id, 'dying', 1, '1.0.0.0', 1, record,
             now(), 'test'
        from units, generate_series(1001, 1999) n where name = ${shop.name}`);
    await stage.ctx.db.execute(sql`update models set bootstrapped_at = now() where id = ${stage.modelId}`);
    const path = { model, service: 'shop' };
    const refused = await door.expect('addUnits', path, [409, 'units_too_many'], operator({ count: 1 }));
    expect(refused.detail).toMatch(/1[,.]?000/);
    await stage.ctx.db.execute(sql`delete from units where number > 1000`);
  });
});

test.each([
  ['the year 0', '0000-01-01T00:00:00Z', 0],
  ['an offset of a day', '2000-01-01T00:00:00+23:59', 0],
  ['the year 10,000', '9999-12-31T23:59:59-23:59', 2],
])('settings are shown at a time that the database cannot read: %s', async (_, at, units) => {
  const path = `/models/${model}/relations/${relation.number}/nodes?at=${encodeURIComponent(at)}`;
  const reply = await door.call('GET', path, { as: 'viewer' });
  expect(reply.status, reply.text).toBe(200);
  expect((reply.body as { nodes: unknown[] }).nodes).toHaveLength(units);
});

describe('hostile 33: a viewer reads no value', () => {
  const reads = routes.filter(({ method, path }) => method === 'GET' && path.startsWith('/models/{model}/'));

  test.each(reads.map(({ operationId, path, role }) => [operationId, path, role] as const))(
    'by %s',
    async (operationId, path, role) => {
      const [service = '', number = ''] = store.name.split('/');
      const isRelation = path.includes('/relations/{number}');
      const params: Record<string, string> = {
        ...{ model, service, unit: number, run },
        number: isRelation ? String(relation.number) : number,
      };
      const at = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => params[name] ?? 'none');
      const reply = await door.call('GET', at, { as: 'viewer' });
      if (role === 'operator') expect(reply.status, operationId).toBe(403);
      else expect(reply.status, reply.text).toBeLessThan(500);
      expect(reply.text).not.toContain(secret);
    },
  );

  test('although an operator reads it', async () => {
    const path = { model, number: String(relation.number) };
    const shown = await door.expect('getRelationSettings', path, 200, { as: 'operator' });
    expect(JSON.stringify(shown)).toContain(secret);
  });
});

test('hostile 34: an error about a value does not contain it', async () => {
  const about = { relation: relation.id, remoteUnit: shop.name, version: 2 };
  const again = crypto.randomUUID();
  await store.begin(again, 'feed-relation-changed', about);
  const set = { [`k${'x'.repeat(300)}`]: text };
  const refused = await store.end(again, { changes: [{ relation: relation.id, set, remove: [] }] });
  expect(refused.status).toBe(422);
  expect(await refused.text()).not.toContain(secret);
  const broken = await store.end(again, { changes: [{ relation: relation.id, set: { a: { secret } }, remove: [] }] });
  expect(broken.status).toBe(400);
  expect(await broken.text()).not.toContain(secret);
  const activity = await door.call('GET', '/activity', { as: 'admin' });
  expect(activity.text).not.toContain(secret);
});
