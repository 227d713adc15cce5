import { sql } from 'drizzle-orm';
import { v7 as uuid } from 'uuid';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { UnitRelation } from '#protocol/unit-state.ts';
import { addRelation, flush, leaveRelations, raiseHeads, removeRelation } from '../relations/index.ts';
import { type StagedUnit, UnitStage } from '../testing/unit-stage.ts';
import { findFormulaPackage } from './find-formula-package.ts';
import { getUnitSettings } from './get-unit-settings.ts';
import { getUnitState, type UnitLook } from './get-unit-state.ts';
import { readUnitsStamp } from './read-stamp.ts';

let stage: UnitStage;
let blogId: string;
let blog: StagedUnit;
let store: StagedUnit;
let relation: { id: number; number: number };
beforeAll(async () => {
  stage = await UnitStage.open();
  blogId = await stage.service('blog', { metadata: { requires: { db: { interface: 'store' } }, masked: ['dsn'] } });
  const storeId = await stage.service('store', { metadata: { provides: { feed: { interface: 'store' } } } });
  relation = await addRelation(stage.ctx, { model: 'prod', endpoints: ['blog', 'store'] });
  [blog, store] = [await stage.unit(blogId), await stage.unit(storeId)];
  await blog.start();
  await store.start();
});
afterAll(() => stage.close());

const look = (unit: StagedUnit, more: Partial<UnitLook> = {}) =>
  getUnitState(stage.ctx, { vmId: unit.vmId, epoch: null, after: '', boot: null, ...more });
const relationsOf = async (unit: StagedUnit, more: Partial<UnitLook> = {}): Promise<UnitRelation[]> =>
  (await look(unit, more)).state.units[0]?.relations ?? [];
const bytes = (name: string) => Buffer.from(name).toString('hex').padStart(64, '0');

describe('the state that an agent gets', () => {
  test('EN-71 what the agent holds is left out, unless it holds it from another epoch', async () => {
    const [held] = await relationsOf(blog);
    expect(held).toMatchObject({
      id: relation.id,
      name: 'db',
      whole: true,
      members: [{ unit: store.name, version: 1 }],
    });
    const after = `${held?.id}:${held?.clock}`;
    const same = { epoch: stage.ctx.epoch, after };
    expect(await relationsOf(blog, same)).toMatchObject([{ whole: false, members: [] }]);
    for (const epoch of ['restored', null]) {
      expect(await relationsOf(blog, { ...same, epoch })).toMatchObject([{ whole: true, members: [{ version: 1 }] }]);
    }
    expect(await relationsOf(blog, { ...same, after: '999:1' }), 'a clock of another relation').toMatchObject([
      { whole: true },
    ]);
  });

  test('the stamp has the epoch, and a VM without units has an empty state', async () => {
    const { state, stamp } = await look(blog, { vmId: uuid() });
    expect(state.units).toEqual([]);
    expect(stamp).toBe(`"${stage.ctx.epoch}.0.0"`);
    const other = await getUnitState(
      { ...stage.ctx, epoch: 'next' },
      { ...{ vmId: blog.vmId, epoch: 'next' }, after: '', boot: null },
    );
    expect(other.stamp).toMatch(/^"next\./);
    expect(other.state.epoch).toBe('next');
  });

  test('a boot of the machine is noted once, and a look without it keeps the last one', async () => {
    const unit = await stage.unit(blogId);
    const boots: unknown[] = [];
    for (const boot of [null, 'first', null, 'second']) {
      await look(unit, { boot });
      boots.push(((await unit.row()).record as { boot?: string | null }).boot ?? null);
    }
    expect(boots).toEqual([null, 'first', 'first', 'second']);
    const changes = async () =>
      (await stage.ctx.db.execute(sql`select from changes where topic = 'vm' and key = ${unit.vmId}`)).rows.length;
    const before = await changes();
    await look(unit, { boot: 'second' });
    expect(await changes(), 'nothing changed').toBe(before);
  });

  test('units are in the order of their numbers, and those that were removed are left out', async () => {
    const cacheId = await stage.service('cache');
    const first = await stage.unit(cacheId);
    const names = [first.name];
    for (let n = 0; n < 9; n += 1) names.push((await stage.place(cacheId, first.vmId)).name);
    const found = async () => (await look(first)).state.units.map(({ unit }) => unit);
    expect(await found()).toEqual(names);
    await stage.ctx.db.execute(sql`update units set removed_at = now() where name = ${names[4]}`);
    expect(await found()).toEqual(names.filter((_, index) => index !== 4));
  });

  test('EN-53 a unit that is being removed gets the goal to leave, with its relations but without members', async () => {
    const unit = await stage.unit(blogId);
    await unit.start();
    await stage.ctx.db.transaction(async (tx) => {
      await tx.execute(sql`update units set life = 'dying' where id = ${unit.id}`);
      await leaveRelations(tx, stage.ctx, [unit.id]);
    });
    const [goal] = (await look(unit)).state.units;
    expect(goal).toMatchObject({ goal: 'leaving', relations: [{ id: relation.id, life: 'alive', members: [] }] });
  });
});

describe('the stamp', () => {
  const versionOf = async ({ vmId }: StagedUnit) => (await readUnitsStamp(stage.ctx.db, vmId)).version;
  const clocks = async (unit: StagedUnit) => Number((await versionOf(unit)).split('.')[1]);

  test('a change in a relation moves the stamps of all its VMs, and of no other', async () => {
    const stranger = await stage.unit(await stage.service('stranger'));
    const before = await Promise.all([blog, store, stranger].map(versionOf));
    await store.run('config-changed', { changes: [{ relation: relation.id, set: { a: '1' }, remove: [] }] });
    const after = await Promise.all([blog, store, stranger].map(versionOf));
    expect(after.map((version, index) => version === before[index])).toEqual([false, false, true]);
  });

  test('several units of a VM in one relation count its clock once', async () => {
    const serviceId = await stage.service('twin', { metadata: { requires: { db: { interface: 'store' } } } });
    const { id } = await addRelation(stage.ctx, { model: 'prod', endpoints: ['twin', 'store'] });
    const one = await stage.unit(serviceId);
    await one.start();
    const single = await clocks(one);
    const other = await stage.unit(serviceId, { agent: one.agent });
    await other.start();
    expect(await clocks(one)).toBe(single + 1);
    const [row] = (await stage.ctx.db.execute<{ clock: string }>(sql`select clock from relations where id = ${id}`))
      .rows;
    expect(await clocks(one)).toBe(Number(row?.clock));
  });

  test('a relation that ended has another revision instead of its clock', async () => {
    const serviceId = await stage.service('brief', { metadata: { requires: { db: { interface: 'store' } } } });
    const { number, id } = await addRelation(stage.ctx, { model: 'prod', endpoints: ['brief', 'store'] });
    const unit = await stage.unit(serviceId);
    await unit.start();
    const before = await versionOf(unit);
    await removeRelation(stage.ctx, { model: 'prod', number });
    await unit.run('db-relation-broken', {}, { relation: id });
    expect(await clocks(unit)).toBe(0);
    expect(Number((await versionOf(unit)).split('.')[0])).toBeGreaterThan(Number(before.split('.')[0]));
  });

  test('a flush without changes moves no stamp, and a raised head moves only the revision', async () => {
    const before = await versionOf(store);
    const end = { exitCode: 1, signal: null, seconds: 1, views: [], reason: null };
    const input = { vmId: store.vmId, runId: uuid(), unitId: store.id, outcome: 'failed' as const, end };
    await stage.ctx.db.transaction((tx) => flush(tx, stage.ctx, input));
    expect(await versionOf(store)).toBe(before);
    await stage.ctx.db.transaction((tx) => raiseHeads(tx, stage.ctx, [store.vmId]));
    const [revision, sum] = before.split('.').map(Number);
    expect(await versionOf(store)).toBe(`${(revision ?? 0) + 1}.${sum}`);
  });
});

describe('what a unit reads', () => {
  test('EN-76 a unit gets the settings of the unit’s version, not the newest ones of its service', async () => {
    await stage.settings(blogId, 2, '{"title":"next","size":2.50}');
    await stage.ctx.db.execute(sql`update services set settings_version = 2 where id = ${blogId}`);
    expect(await getUnitSettings(stage.ctx, blog.vmId, blog.name)).toEqual({ version: 1, settings: {} });
    await stage.ctx.db.execute(sql`update units set settings_version = 2 where id = ${blog.id}`);
    expect(await getUnitSettings(stage.ctx, blog.vmId, blog.name)).toEqual({
      ...{ version: 2, settings: { title: '"next"', size: '2.50' } },
    });
  });

  test('a unit of another VM, and one that was removed, has no settings', async () => {
    const unknown = { kind: 'not_found', code: 'unit_unknown' };
    await expect(getUnitSettings(stage.ctx, store.vmId, blog.name)).rejects.toMatchObject(unknown);
    const gone = await stage.unit(blogId);
    await stage.ctx.db.execute(sql`update units set removed_at = now() where id = ${gone.id}`);
    await expect(getUnitSettings(stage.ctx, gone.vmId, gone.name)).rejects.toMatchObject(unknown);
  });

  test('a VM gets every version of the formulas of its units, and no package of others', async () => {
    const sizeOf = (unit: StagedUnit, name: string) => findFormulaPackage(stage.ctx.db, unit.vmId, bytes(name));
    await stage.ctx.db.execute(sql`
      insert into handler_versions (handler, version, version_key, state, sha256, size, manifest, manifest_text, files,
        warnings, created_at, created_by)
      select handler, '0.9.0.0', '0000', state, ${bytes('blog-old')}, 777, manifest, '', files, warnings, now(), 'test'
        from handler_versions where handler = 'Acme.Lab.blog'`);
    expect([await sizeOf(blog, 'blog'), await sizeOf(blog, 'blog-old')]).toEqual([20_480, 777]);
    expect([await sizeOf(blog, 'store'), await sizeOf(store, 'blog-old')]).toEqual([null, null]);
    const gone = await stage.unit(blogId);
    expect(await sizeOf(gone, 'blog')).toBe(20_480);
    await stage.ctx.db.execute(sql`update units set removed_at = now() where id = ${gone.id}`);
    expect(await sizeOf(gone, 'blog'), 'after its last unit was removed').toBeNull();
  });
});
