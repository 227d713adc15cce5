import { v7 as uuid } from 'uuid';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addRelation, readNode } from '../relations/index.ts';
import { type StagedUnit, UnitStage } from '../testing/unit-stage.ts';
import { removeUnitsIn } from '../units/index.ts';
import { listRuns } from './list-runs.ts';

let stage: UnitStage;
let service: string;
beforeAll(async () => {
  stage = await UnitStage.open();
  service = await stage.service('lone');
});
afterAll(() => stage.close());

const codeOf = async (answer: Response) => [answer.status, ((await answer.json()) as { code: string }).code];
const outcomes = async (unit: StagedUnit) =>
  (await listRuns(stage.ctx, { model: 'prod', unit: unit.name })).items.map(({ outcome }) => outcome);

describe('ends that do not fit', () => {
  test('of a run that was ended with other changes: the first end counts', async () => {
    const unit = await stage.unit(service);
    const run = await unit.run('install', { exitCode: 4 });
    expect(await (await unit.end(run, { exitCode: 0 })).json()).toEqual({ outcome: 'repeated', versions: {} });
    expect((await unit.row()).record.formula).toBeNull();
    expect(await outcomes(unit)).toEqual(['failed']);
  });

  test('EN-53 after a removal by force: the agent writes nothing further for the unit', async () => {
    const unit = await stage.unit(service);
    const run = uuid();
    await unit.begin(run, 'install');
    await stage.ctx.db.transaction((tx) => removeUnitsIn(tx, stage.ctx, [unit.id], { forced: true }));
    expect(await codeOf(await unit.end(run))).toEqual([409, 'unit_gone']);
    expect(await codeOf(await unit.call('/skipped', { skipped: [{ hook: 'start' }] }, 'POST'))).toEqual([
      409,
      'unit_gone',
    ]);
    expect(await codeOf(await unit.call('/settings'))).toEqual([404, 'unit_unknown']);
    expect(await outcomes(unit)).toEqual(['interrupted']);
  });

  test('of another unit of the same VM', async () => {
    const unit = await stage.unit(service);
    const other = await stage.unit(service, { agent: unit.agent });
    const run = uuid();
    await unit.begin(run, 'install');
    expect(await codeOf(await other.end(run))).toEqual([409, 'run_unknown']);
    expect(await codeOf(await other.begin(run, 'install'))).toEqual([409, 'run_superseded']);
    expect((await unit.end(run)).status).toBe(200);
  });

  test('EN-10 with changes although the hook failed', async () => {
    const unit = await stage.unit(service);
    const run = uuid();
    await unit.begin(run, 'install');
    const changes = [{ relation: 1, set: { a: '1' }, remove: [] }];
    expect((await unit.end(run, { exitCode: 1, changes })).status).toBe(400);
    expect(await outcomes(unit)).toEqual(['running']);
  });

  test('with a signal, or after the time limit', async () => {
    const unit = await stage.unit(service);
    await unit.run('install', { exitCode: null, signal: 'SIGSEGV' });
    await unit.run('install', { exitCode: null, signal: 'SIGKILL', timedOut: true }, { attempt: 2 });
    expect(await outcomes(unit)).toEqual(['timed-out', 'failed']);
    expect((await unit.row()).failing.unit).toMatchObject({ failures: 2, outcome: 'timed-out', exitCode: null });
  });
});

describe('at the same time', () => {
  test('EN-59 the same end twice is stored once', async () => {
    const unit = await stage.unit(service);
    const run = uuid();
    await unit.begin(run, 'install');
    const answers = await Promise.all(Array.from({ length: 4 }, () => unit.end(run)));
    const stored = await Promise.all(
      answers.map(async (answer) => ((await answer.json()) as { outcome: string }).outcome),
    );
    expect(stored.toSorted()).toEqual(['repeated', 'repeated', 'repeated', 'stored']);
  });

  test('EN-58 several begins leave one run that is running', async () => {
    const unit = await stage.unit(service);
    const runs = Array.from({ length: 5 }, () => uuid());
    const answers = await Promise.all(runs.map((run) => unit.begin(run, 'install')));
    expect(answers.map(({ status }) => status)).toEqual(Array(5).fill(200));
    expect((await outcomes(unit)).toSorted()).toEqual([...Array(4).fill('interrupted'), 'running']);
    const numbers = await Promise.all(
      answers.map(async (answer) => ((await answer.json()) as { number: number }).number),
    );
    expect(numbers.toSorted()).toEqual([1, 2, 3, 4, 5]);
  });

  test('ends and removals of units of one service do not deadlock', async () => {
    const units = await Promise.all(Array.from({ length: 4 }, () => stage.unit(service)));
    const runs = await Promise.all(
      units.map(async (unit) => {
        await unit.look();
        for (const hook of ['install', 'config-changed']) await unit.run(hook);
        const run = uuid();
        await unit.begin(run, 'start');
        return { unit, run };
      }),
    );
    const remove = (unit: StagedUnit) =>
      stage.ctx.db.transaction((tx) => removeUnitsIn(tx, stage.ctx, [unit.id], { forced: true }));
    const answers = await Promise.all(
      runs.flatMap(({ unit, run }) => [unit.end(run).then(({ status }) => status), remove(unit).then(() => 0)]),
    );
    for (const status of answers) expect([0, 200, 409]).toContain(status);
    for (const { unit } of runs) expect((await unit.row()).removedAt).not.toBeNull();
  });
});

test('a flush that is rejected is stored as refused, counts as a failure, and is rejected again', async () => {
  const provider = await stage.service('store', { metadata: { provides: { feed: { interface: 'store' } } } });
  const consumer = await stage.service('blog', { metadata: { requires: { db: { interface: 'store' } } } });
  const { id: relation } = await addRelation(stage.ctx, { model: 'prod', endpoints: ['blog', 'store'] });
  const [store, blog] = [await stage.unit(provider), await stage.unit(consumer)];
  for (const unit of [store, blog]) await unit.start();
  const about = { relation, remoteUnit: blog.name, version: 1 };
  const run = uuid();
  await store.begin(run, 'feed-relation-joined', about);
  const large = { changes: [{ relation, set: { a: '1', big: JSON.stringify('x'.repeat(65_000)) }, remove: [] }] };
  expect(await codeOf(await store.end(run, large))).toEqual([422, 'node_too_large']);
  expect(await codeOf(await store.end(run, large)), 'repeated').toEqual([422, 'node_too_large']);
  const { items } = await listRuns(stage.ctx, { model: 'prod', unit: store.name, outcome: 'refused' });
  expect(items).toMatchObject([{ id: run, refused: 'node_too_large', exitCode: 0 }]);
  expect((await store.row()).failing[String(relation)]).toMatchObject({ run, outcome: 'refused', failures: 1 });
  const node = { vmId: store.vmId, unit: store.name, relationId: relation, other: store.name };
  expect(await readNode(stage.ctx, node)).toEqual({ version: 1, settings: {} });
  await store.run(
    'feed-relation-joined',
    { changes: [{ relation, set: { a: '1' }, remove: [] }] },
    { ...about, attempt: 2 },
  );
  expect(await readNode(stage.ctx, node)).toEqual({ version: 2, settings: { a: '1' } });
  expect((await store.row()).failing).toEqual({});
});

test('runs are listed in pages, and by hook and outcome', async () => {
  const unit = await stage.unit(service);
  for (const exitCode of [1, 1, 0]) await unit.run('install', { exitCode });
  await unit.run('config-changed');
  const list = (more: object) => listRuns(stage.ctx, { model: 'prod', unit: unit.name, ...more });
  const first = await list({ limit: 3 });
  expect(first.items.map(({ number }) => number)).toEqual([4, 3, 2]);
  const second = await list({ limit: 3, cursor: first.nextCursor ?? '' });
  expect(second).toMatchObject({ items: [{ number: 1 }], nextCursor: null });
  expect((await list({ hook: 'install', outcome: 'failed' })).items.map(({ number }) => number)).toEqual([2, 1]);
  await expect(list({ cursor: 'x' })).rejects.toMatchObject({ code: 'cursor_invalid' });
  await expect(list({ unit: 'lone/999' })).rejects.toMatchObject({ code: 'unit_unknown' });
  await expect(list({ unit: 'lone' })).rejects.toMatchObject({ code: 'invalid' });
});
