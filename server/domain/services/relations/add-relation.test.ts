import { sql } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import { readActs } from '#server/testing/acts.ts';
import { addRelation } from './add-relation.ts';
import { getRelation, listRelations } from './relation-view.ts';
import { removeRelation } from './remove-relation.ts';
import { RelationStage } from './testing/relation-stage.ts';

let stage: RelationStage;
const model = 'prod';
beforeAll(async () => {
  stage = await RelationStage.open();
  await stage.service('wordpress', { requires: { db: { interface: 'mysql' }, cache: { interface: 'memcache' } } });
  await stage.service('mysql', { provides: { db: { interface: 'mysql' }, shared: { interface: 'mysql' } } });
  await stage.service('memcached', { provides: { cache: { interface: 'memcache' } } });
  await stage.service('ring', { peers: { ring: { interface: 'chain' } } });
});

const add = (one: string, other: string) => addRelation(stage.ctx, { model, endpoints: [one, other] });
const refused = (one: string, other: string) =>
  add(one, other).then(
    () => null,
    (error) => error,
  );

describe('adding a relation', () => {
  test('names that are left out are found, and the act is in the activity', async () => {
    const { number, ...related } = await add('memcached', 'wordpress');
    expect(related).toMatchObject({
      ...{ interface: 'memcache', life: 'alive', state: 'settled', units: 0, behind: 0, clock: 0 },
      endpoints: [
        { side: 'requires', service: 'wordpress', name: 'cache' },
        { side: 'provides', service: 'memcached', name: 'cache' },
      ],
    });
    const entries = await readActs(stage.ctx.db);
    expect(entries.at(-1)).toMatchObject({
      ...{ action: 'relation.add', targetId: model },
      details: { endpoints: 'wordpress:cache memcached:cache', number },
    });
  });

  test('several pairs that match are listed, and services that do not match say what they offer', async () => {
    expect(await refused('wordpress', 'mysql')).toMatchObject({
      code: 'relation_ambiguous',
      params: { pairs: 'wordpress:db mysql:db, wordpress:db mysql:shared' },
    });
    expect(await refused('mysql', 'memcached')).toMatchObject({
      code: 'relation_no_match',
      params: { offers: 'mysql (provides: db [mysql], shared [mysql]), memcached (provides: cache [memcache])' },
    });
    expect(await refused('ring', 'ring')).toMatchObject({ code: 'relation_no_match' });
  });

  test('the same pair twice, and one above the limit of an endpoint, are conflicts', async () => {
    await add('wordpress', 'mysql:db');
    expect(await refused('mysql:db', 'wordpress')).toMatchObject({ kind: 'conflict', code: 'relation_exists' });
    expect(await refused('wordpress', 'mysql:shared')).toMatchObject({
      ...{ kind: 'conflict', code: 'relation_limit' },
      params: { endpoint: 'wordpress:db', limit: 1 },
    });
  });

  test('two people who add the same relation at the same time add one', async () => {
    await stage.service('solo', { requires: { db: { interface: 'mysql' } } });
    const all = await Promise.all([1, 2, 3].map(() => refused('solo', 'mysql:shared')));
    expect(all.filter((error) => error === null)).toHaveLength(1);
    expect(all.flatMap((error) => error?.code ?? [])).toEqual(['relation_exists', 'relation_exists']);
  });

  test.each([
    ['nothing', 'mysql', 'service_unknown'],
    ['mysql:db:x', 'wordpress', 'relation_endpoint_form'],
    ['../x', 'wordpress', 'relation_endpoint_form'],
    ['mysql:', 'wordpress', 'relation_endpoint_form'],
  ])('%s and %s are rejected with %s', async (one, other, code) => {
    const error = await refused(one, other);
    expect([error.code, error.faults[0]?.code]).toContain(code);
  });

  test('a service that is being removed, a destroyed model, another revision and a viewer are rejected', async () => {
    const id = await stage.service('leaving', { requires: { db: { interface: 'mysql' } } });
    await stage.ctx.db.execute(sql`update services set life = 'dying' where id = ${id}`);
    expect(await refused('leaving', 'mysql')).toMatchObject({ code: 'service_dying' });
    const endpoints: [string, string] = ['wordpress', 'mysql'];
    await expect(addRelation(stage.ctx, { model: 'none', endpoints })).rejects.toMatchObject({ code: 'model_unknown' });
    await expect(addRelation(stage.ctx, { model, endpoints, ifMatch: 9_999 })).rejects.toMatchObject({
      code: 'model_changed',
    });
    await expect(addRelation(await stage.as('viewer'), { model, endpoints })).rejects.toMatchObject({
      kind: 'forbidden',
    });
  });
});

describe('removing a relation', () => {
  test('EN-52 one without participants ends with the call, and its number is not used again', async () => {
    const name = 'short';
    await stage.service(name, { requires: { db: { interface: 'mysql' } } });
    const { number } = await add(name, 'mysql:shared');
    const { life, state, endedAt } = await removeRelation(stage.ctx, { model, number });
    expect({ life, state, endedAt }).toEqual({ life: 'dying', state: 'ended', endedAt: stage.ctx.now.toISOString() });
    expect((await listRelations(stage.ctx, { model })).items.map((one) => one.number)).not.toContain(number);
    expect((await getRelation(stage.ctx, { model, number })).state).toBe('ended');
    expect((await add(name, 'mysql:shared')).number).toBeGreaterThan(number);
  });

  test('one with participants is ending until they are done, and cannot be added again before', async () => {
    const id = await stage.service('busy', { requires: { db: { interface: 'mysql' } } });
    const { number, id: relationId } = await add('busy', 'mysql:shared');
    const unit = await stage.unit(id);
    expect(await removeRelation(stage.ctx, { model, number })).toMatchObject({ state: 'ending', endedAt: null });
    expect(await removeRelation(stage.ctx, { model, number })).toMatchObject({ state: 'ending' });
    expect(await refused('busy', 'mysql:shared')).toMatchObject({ code: 'relation_dying' });
    await stage.end(unit, await stage.begin(unit, { hook: 'db-relation-broken', relationId }));
    expect((await getRelation(stage.ctx, { model, number })).state).toBe('ended');
  });

  test('an unknown one is not found', async () => {
    await expect(removeRelation(stage.ctx, { model, number: 999 })).rejects.toMatchObject({
      ...{ kind: 'not_found', code: 'relation_unknown' },
    });
  });
});

describe('the state of a relation', () => {
  test('it is behind until all units have confirmed, and failing while a hook of it fails', async () => {
    const one = await stage.service('reader', { requires: { db: { interface: 'state' } } });
    const other = await stage.service('writer', { provides: { db: { interface: 'state' } } });
    const { number, id: relationId } = await add('reader', 'writer');
    const [a, b] = [await stage.unit(one), await stage.unit(other)];
    const state = async () => (await getRelation(await stage.as('viewer'), { model, number })).state;
    const confirm = async (unit: typeof a, remote: typeof a, version: number) =>
      stage.end(unit, await stage.begin(unit, { hook: 'db-relation-changed', relationId, remote, version }));
    expect(await getRelation(stage.ctx, { model, number })).toMatchObject({ state: 'behind', units: 2, behind: 2 });
    await confirm(a, b, 1);
    expect(await getRelation(stage.ctx, { model, number })).toMatchObject({ state: 'behind', behind: 1 });
    await confirm(b, a, 1);
    expect(await state()).toBe('settled');
    await stage.ctx.db.execute(sql`
      update units set failing = jsonb_build_object(${String(relationId)}::text, '{}'::jsonb) where id = ${a.id}`);
    expect(await state()).toBe('failing');
  });
});
