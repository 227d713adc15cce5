import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { statementsOf } from '#server/testing/statements.ts';
import { addRelation, removeRelation } from '../relations/index.ts';
import { removeService } from '../remove-service.ts';
import { type StagedUnit, UnitStage } from '../testing/unit-stage.ts';

let stage: UnitStage;
beforeAll(async () => {
  stage = await UnitStage.open();
});
afterAll(() => stage.close());

const endpoint = { db: { interface: 'store' } };

/** Deploys two services that are related, each with started units. */
async function related(
  name: string,
  units = 1,
): Promise<{ store: StagedUnit; blogs: StagedUnit[]; number: number; id: number }> {
  const provider = await stage.service(`store-${name}`, { metadata: { provides: endpoint } });
  const consumer = await stage.service(`blog-${name}`, { metadata: { requires: endpoint } });
  const endpoints: [string, string] = [`blog-${name}`, `store-${name}`];
  const { number, id } = await addRelation(stage.ctx, { model: 'prod', endpoints });
  const store = await stage.unit(provider);
  await store.start();
  const blogs = await Promise.all(Array.from({ length: units }, () => stage.unit(consumer)));
  for (const blog of blogs) await blog.start();
  return { store, blogs, number, id };
}

const first = ([one]: StagedUnit[]): StagedUnit => {
  if (one === undefined) throw new Error('there is no unit');
  return one;
};
const isRemoved = async (table: 'services' | 'relations', id: string | number): Promise<boolean> => {
  const { rows } = await stage.ctx.db.execute(`select removed_at from ${table} where id = '${id}'`);
  return rows[0]?.removed_at !== null;
};

describe('the end of what is being removed', () => {
  test('EN-39 a relation ends with the last hook `broken` of its units', async () => {
    const { store, blogs, number, id } = await related('ending');
    const blog = first(blogs);
    await removeRelation(stage.ctx, { model: 'prod', number });
    await store.run('db-relation-broken', {}, { relation: id });
    expect(await isRemoved('relations', id)).toBe(false);
    const broken = { hook: 'db-relation-broken', relation: id };
    await blog.call('/skipped', { skipped: [broken] }, 'POST');
    expect(await isRemoved('relations', id)).toBe(true);
    expect((await blog.look()).state.units[0]?.relations).toEqual([]);
  });

  test('EN-51 a service ends with its last unit, and its relation with it', async () => {
    const { store, blogs, id } = await related('last', 2);
    const { serviceId } = first(blogs);
    await removeService(stage.ctx, { model: 'prod', service: 'blog-last' });
    expect(await isRemoved('services', serviceId)).toBe(false);
    for (const blog of blogs) {
      expect(await isRemoved('services', serviceId)).toBe(false);
      await blog.run('db-relation-broken', {}, { relation: id });
      await blog.run('stop');
      expect((await blog.call('', undefined, 'DELETE')).status).toBe(204);
    }
    await store.run('db-relation-broken', {}, { relation: id });
    expect([await isRemoved('services', serviceId), await isRemoved('relations', id)]).toEqual([true, true]);
    expect(await isRemoved('services', store.serviceId)).toBe(false);
  });
});

test('EN-72 the end of a hook takes as many statements with many participants as with two', async () => {
  const [small, large] = [await related('small', 1), await related('large', 6)];
  const count = async ({ store, blogs, id }: Awaited<ReturnType<typeof related>>) => {
    const about = { relation: id, remoteUnit: first(blogs).name, version: 1 };
    const changes = { changes: [{ relation: id, set: { host: '"10.0.0.4"' }, remove: [] }] };
    const statements = await statementsOf(() => store.run('db-relation-joined', changes, about));
    return statements.filter((text) => !text.includes('credential_hash = any')).length;
  };
  expect(await count(large)).toBe(await count(small));
});
