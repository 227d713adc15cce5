import { v7 as uuid } from 'uuid';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { addRelation } from '../relations/index.ts';
import { type StagedUnit, UnitStage } from '../testing/unit-stage.ts';
import { listUnitRelations } from '../units/unit-relations.ts';
import { getUnit } from '../units/unit-view.ts';
import { listUnitsOfVm } from '../units/units-of-vm.ts';
import { getRun } from './get-run.ts';

let stage: UnitStage;
let blog: StagedUnit;
let store: StagedUnit;
let relation: { id: number; number: number };
beforeAll(async () => {
  stage = await UnitStage.open();
  const requires = { db: { interface: 'store' } };
  const provides = { feed: { interface: 'store' } };
  blog = await stage.unit(await stage.service('blog', { metadata: { requires } }));
  store = await stage.unit(await stage.service('store', { metadata: { provides } }));
  await blog.start();
  await store.start();
  relation = await addRelation(stage.ctx, { model: 'prod', endpoints: ['blog', 'store'] });
});
afterAll(() => stage.close());

const detailsOf = (unit: StagedUnit, run: string) => getRun(stage.ctx, { model: 'prod', unit: unit.name, run });

test('EN-78 a run shows what it read at which version, and the keys that it set, without values', async () => {
  const about = { relation: relation.id, remoteUnit: blog.name, version: 1 };
  const set = (values: object, remove: string[] = []) => ({
    changes: [{ relation: relation.id, set: values, remove }],
  });
  const first = await store.run('feed-relation-joined', set({ host: '"a"', port: '1' }), about);
  const views = [{ relation: relation.id, unit: blog.name, version: 1 }, { settings: 1 }];
  const second = await store.run(
    'feed-relation-changed',
    { ...set({ host: '"b"', user: '"u"' }, ['port']), views },
    about,
  );
  const named = { relation: relation.number, name: 'feed' };
  expect(await detailsOf(store, first)).toMatchObject({
    read: [],
    stored: [
      {
        ...named,
        version: 2,
        keys: [
          { key: 'host', change: 'added' },
          { key: 'port', change: 'added' },
        ],
      },
    ],
    dropped: [],
    openPorts: [],
  });
  const details = await detailsOf(store, second);
  expect(details).toMatchObject({
    read: [
      { ...named, unit: blog.name, version: 1 },
      { relation: null, name: null, unit: null, version: 1 },
    ],
    stored: [
      {
        ...{ ...named, version: 3 },
        keys: [
          { key: 'host', change: 'changed' },
          { key: 'port', change: 'removed' },
          { key: 'user', change: 'added' },
        ],
      },
    ],
  });
  expect(JSON.stringify(details)).not.toContain('"b"');
});

test('EN-49 a unit says which hook of which relation fails, since when, and when its next attempt is at the latest', async () => {
  const about = { relation: relation.id, remoteUnit: store.name, version: 3, attempt: 2 };
  const run = await blog.run('db-relation-joined', { exitCode: 1 }, about);
  const { failing, service, formula, enteredAt } = await getUnit(stage.ctx, { model: 'prod', unit: blog.name });
  expect({ service, formula, enteredAt }).toEqual({
    ...{ service: 'blog', formula: 'Acme.Lab.blog', enteredAt: expect.any(String) },
  });
  expect(failing).toMatchObject([
    { run, hook: 'db-relation-joined', relation: { ...{ id: relation.id, number: relation.number }, name: 'db' } },
  ]);
  const [{ failedAt, nextAttemptBefore } = {}] = failing;
  expect(Date.parse(nextAttemptBefore ?? '') - Date.parse(failedAt ?? '')).toBe(10_000);
});

test('EN-73 a unit lists its relations with what it has not confirmed', async () => {
  const { items } = await listUnitRelations(stage.ctx, { model: 'prod', unit: blog.name });
  expect(items).toMatchObject([
    {
      ...{ number: relation.number, id: relation.id, name: 'db', interface: 'store', side: 'requires' },
      ...{ service: 'store', members: 1, behind: 1, failing: 'db-relation-joined', state: 'in', version: 1 },
    },
  ]);
});

test('EN-81 a VM lists its units with what is due on them', async () => {
  const { items } = await listUnitsOfVm(stage.ctx, { vmId: blog.vmId });
  expect(items).toMatchObject([
    {
      ...{ model: 'prod', unit: blog.name, stage: 'started' },
      due: [
        { hook: 'db-relation-joined', remoteUnit: store.name, waitsFor: 'failing' },
        { hook: 'db-relation-changed', remoteUnit: store.name, waitsFor: 'failing' },
      ],
    },
  ]);
  const other = await stage.unit(blog.serviceId);
  const run = uuid();
  await other.begin(run, 'install');
  expect((await listUnitsOfVm(stage.ctx, { vmId: other.vmId })).items).toMatchObject([
    {
      stage: 'placed',
      turn: 1,
      running: { run, hook: 'install', remoteUnit: null },
      due: [{ hook: 'install' }, {}, {}],
    },
  ]);
});
