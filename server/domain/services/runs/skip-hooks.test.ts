import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addRelation } from '../relations/index.ts';
import { type StagedUnit, UnitStage } from '../testing/unit-stage.ts';
import { getDue } from './get-due.ts';
import { listRuns } from './list-runs.ts';

let stage: UnitStage;
let [provider, consumer]: string[] = ['', ''];
let relation: number;
beforeAll(async () => {
  stage = await UnitStage.open();
  provider = await stage.service('store', { metadata: { provides: { feed: { interface: 'store' } } } });
  consumer = await stage.service('blog', { metadata: { requires: { db: { interface: 'store' } } } });
  ({ id: relation } = await addRelation(stage.ctx, { model: 'prod', endpoints: ['blog', 'store'] }));
});
afterAll(() => stage.close());

const skip = (unit: StagedUnit, skipped: object[], more: object = {}) =>
  unit.call('/skipped', { skipped, ...more }, 'POST');
const due = async (unit: StagedUnit) =>
  (await getDue(stage.ctx, { model: 'prod', unit: unit.name })).items.map(({ hook }) => hook);
const unitHooks = [{ hook: 'install' }, { hook: 'config-changed', version: 1 }, { hook: 'start' }];

describe('hooks that count as done', () => {
  test('EN-44 EN-34 a start without a file makes the unit a member', async () => {
    const [store, blog] = [await stage.unit(provider ?? ''), await stage.unit(consumer ?? '')];
    await blog.start();
    expect((await skip(store, unitHooks, { boot: 'boot-7' })).status).toBe(204);
    expect((await store.row()).record).toMatchObject({ boot: 'boot-7', started: { boot: 'boot-7' } });
    const [seen] = (await blog.look()).state.units[0]?.relations ?? [];
    expect(seen?.members).toMatchObject([{ unit: store.name, version: 1 }]);
    expect(await due(blog)).toEqual(['db-relation-joined', 'db-relation-changed']);
    expect((await listRuns(stage.ctx, { model: 'prod', unit: store.name })).items).toEqual([]);
  });

  test('several hooks of a relation are confirmed at the same time, in their order', async () => {
    const [store, blog] = [await stage.unit(provider ?? ''), await stage.unit(consumer ?? '')];
    for (const unit of [store, blog]) await unit.start();
    const { relations = [] } = (await blog.look()).state.units[0] ?? {};
    const members = relations.flatMap(({ members: all }) => all);
    const skipped = members.flatMap((member) =>
      ['joined', 'changed'].map((event) => ({
        ...{ hook: `db-relation-${event}`, relation, remoteUnit: member.unit },
        ...('version' in member && { version: member.version }),
      })),
    );
    expect(skipped.length).toBeGreaterThan(2);
    await skip(blog, skipped);
    expect(await due(blog)).toEqual([]);
    await skip(blog, skipped);
    expect(await due(blog), 'repeated').toEqual([]);
  });

  test('a hook of a relation in which the unit does not take part changes nothing', async () => {
    const unit = await stage.unit(consumer ?? '');
    await unit.start();
    const before = await due(unit);
    const foreign = { hook: 'db-relation-changed', relation: 999, remoteUnit: 'store/0', version: 4 };
    expect((await skip(unit, [foreign])).status).toBe(204);
    expect(await due(unit)).toEqual(before);
  });

  test.each<[string, object[]]>([
    ['no hook', []],
    ['501 hooks', Array.from({ length: 501 }, () => ({ hook: 'start' }))],
    ['a hook without a name', [{ relation: 1 }]],
    ['a unit that is none', [{ hook: 'db-relation-joined', relation: 1, remoteUnit: '../x/1' }]],
  ])('%s is rejected', async (_, skipped) => {
    const unit = await stage.unit(provider ?? '');
    expect((await skip(unit, skipped)).status).toBe(400);
  });
});

describe('EN-49 a hook that an operator skips', () => {
  test('is marked with who decided, and nothing of its run is stored', async () => {
    const unit = await stage.unit(provider ?? '');
    const run = await unit.run('install', { exitCode: 1 });
    const decision = JSON.stringify({ run, how: 'skip', at: new Date().toISOString(), by: 'Ada' });
    await stage.ctx.db.execute(`update units set resolutions = '[${decision}]' where id = '${unit.id}'`);
    await skip(unit, [{ hook: 'install', run, formula: '1.0.0.0' }]);
    expect(await unit.row()).toMatchObject({
      ...{ failing: {}, resolutions: [], record: { formula: '1.0.0.0' } },
      skipped: [{ hook: 'install', by: 'Ada', formula: '1.0.0.0' }],
    });
    expect(await due(unit)).toEqual(['config-changed', 'start']);
  });

  test('of one relation leaves the failure of another hook as it is', async () => {
    const unit = await stage.unit(provider ?? '');
    await unit.start();
    await unit.run('feed-relation-joined', { exitCode: 1 }, { relation, remoteUnit: 'blog/1', version: 1 });
    const run = await unit.run('config-changed', { exitCode: 1 });
    await skip(unit, [{ hook: 'config-changed', run, version: 1 }]);
    const { failing } = await unit.row();
    expect(Object.keys(failing)).toEqual([String(relation)]);
  });
});
