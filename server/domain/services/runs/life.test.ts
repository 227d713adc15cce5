import { afterAll, beforeAll, expect, test } from 'vitest';
import type { UnitRelation } from '#protocol/unit-state.ts';
import { addRelation } from '../relations/index.ts';
import { type StagedUnit, UnitStage } from '../testing/unit-stage.ts';
import { dismissUnits } from '../units/leave.ts';
import { getDue } from './get-due.ts';
import { listRuns } from './list-runs.ts';

let stage: UnitStage;
let relation: number;
let [store, blog]: StagedUnit[] = [];
beforeAll(async () => {
  stage = await UnitStage.open();
  const provider = await stage.service('store', { metadata: { provides: { feed: { interface: 'store' } } } });
  const consumer = await stage.service('blog', { metadata: { requires: { db: { interface: 'store' } } } });
  ({ id: relation } = await addRelation(stage.ctx, { model: 'prod', endpoints: ['blog', 'store'] }));
  [store, blog] = [await stage.unit(provider), await stage.unit(consumer)];
});
afterAll(() => stage.close());

function both(): { store: StagedUnit; blog: StagedUnit } {
  if (store === undefined || blog === undefined) throw new Error('the units were not added');
  return { store, blog };
}

const due = async (unit: StagedUnit) => {
  const { items } = await getDue(stage.ctx, { model: 'prod', unit: unit.name });
  return items.map(({ hook, remoteUnit }) => (remoteUnit === null ? hook : `${hook} ${remoteUnit}`));
};
const membersOf = async (unit: StagedUnit): Promise<UnitRelation['members']> =>
  (await unit.look()).state.units[0]?.relations[0]?.members ?? [];

test('EN-33 EN-34 a unit is not a member before its start, and has no hook of a relation', async () => {
  const units = both();
  await units.blog.look();
  expect(await due(units.blog)).toEqual(['install', 'config-changed', 'start']);
  await units.store.start();
  expect(await membersOf(units.store)).toEqual([]);
  await units.blog.start();
  expect(await membersOf(units.store)).toMatchObject([{ unit: units.blog.name, version: 1 }]);
});

test('EN-35 joined and changed run once for each member', async () => {
  const units = both();
  const about = { relation, remoteUnit: units.store.name, version: 1 };
  expect(await due(units.blog)).toEqual([
    `db-relation-joined ${units.store.name}`,
    `db-relation-changed ${units.store.name}`,
  ]);
  await units.blog.run('db-relation-joined', {}, about);
  expect(await due(units.blog)).toEqual([`db-relation-changed ${units.store.name}`]);
  await units.blog.run('db-relation-changed', {}, about);
  expect(await due(units.blog)).toEqual([]);
});

test('EN-44 hooks of a relation without a file are confirmed together', async () => {
  const units = both();
  const about = { relation, remoteUnit: units.blog.name, version: 1 };
  const skipped = ['joined', 'changed'].map((event) => ({ hook: `feed-relation-${event}`, ...about }));
  await units.store.call('/skipped', { skipped }, 'POST');
  expect(await due(units.store)).toEqual([]);
});

test('EN-40 a value that is the same makes no hook due anywhere', async () => {
  const units = both();
  const about = { relation, remoteUnit: units.blog.name, version: 1 };
  const set = { changes: [{ relation, set: { host: '"a"' }, remove: [] }] };
  await units.store.run('feed-relation-changed', set, about);
  expect(await due(units.blog)).toEqual([`db-relation-changed ${units.store.name}`]);
  await units.blog.run('db-relation-changed', {}, { relation, remoteUnit: units.store.name, version: 2 });
  const { stamp } = await units.blog.look();
  await units.store.run('feed-relation-changed', set, about);
  expect((await units.blog.look()).stamp).toBe(stamp);
  expect(await due(units.blog)).toEqual([]);
});

test('EN-39 EN-51 a unit that leaves departs, breaks and stops, and is gone after its agent says so', async () => {
  const units = both();
  const row = await units.store.row();
  await stage.ctx.db.transaction((tx) => dismissUnits(tx, stage.ctx, [row], false));
  expect((await units.store.look()).state.units).toMatchObject([{ goal: 'leaving' }]);
  expect(await due(units.store)).toEqual([`feed-relation-departed ${units.blog.name}`, 'feed-relation-broken', 'stop']);
  expect(await due(units.blog)).toEqual([`db-relation-departed ${units.store.name}`]);
  const about = { relation, remoteUnit: units.blog.name };
  for (const attempt of [1, 2]) await units.store.run('feed-relation-departed', { exitCode: 1 }, { ...about, attempt });
  const last = await units.store.run('feed-relation-departed', { exitCode: 1 }, { ...about, attempt: 3 });
  const departed = { hook: 'feed-relation-departed', ...about, run: last };
  await units.store.call('/skipped', { skipped: [departed] }, 'POST');
  expect(await due(units.store)).toEqual(['feed-relation-broken', 'stop']);
  await units.store.run('feed-relation-broken', {}, { relation });
  await units.store.run('stop');
  expect(await due(units.store)).toEqual([]);
  expect((await units.store.call('', undefined, 'DELETE')).status).toBe(204);
  const { items } = await listRuns(stage.ctx, { model: 'prod', unit: units.store.name, outcome: 'skipped' });
  expect(items.map(({ id }) => id)).toEqual([last]);
  await units.blog.run('db-relation-departed', {}, { relation, remoteUnit: units.store.name });
  expect(await due(units.blog)).toEqual([]);
  expect((await units.blog.row()).failing).toEqual({});
});
