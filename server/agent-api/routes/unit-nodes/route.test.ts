import { afterAll, beforeAll, expect, test } from 'vitest';
import { nodeDocument, runEnded } from '#protocol/unit-runs.ts';
import { addRelation } from '#server/domain/services/index.ts';
import { type StagedUnit, UnitStage } from '#server/domain/services/testing/unit-stage.ts';

let stage: UnitStage;
let app: StagedUnit;
let base: StagedUnit;
let relation: number;

beforeAll(async () => {
  stage = await UnitStage.open();
  const appId = await stage.service('app', { metadata: { requires: { db: { interface: 'store' } } } });
  const baseId = await stage.service('base', { metadata: { provides: { db: { interface: 'store' } } } });
  app = await stage.unit(appId);
  base = await stage.unit(baseId);
  ({ id: relation } = await addRelation(stage.ctx, { model: 'prod', endpoints: ['app', 'base'] }));
  await app.start();
  await base.start();
});
afterAll(() => stage.close());

const path = (other: string, id: number | string = relation) => `/relations/${id}/${other}`;
const codeOf = async (answer: Response) => [answer.status, ((await answer.json()) as { code: string }).code];

test('EN-4 a unit reads the settings of units that take part, as they were set', async () => {
  const text = { host: '"10.0.0.4"', port: '12345678901234567890', half: '"\\ud800"' };
  const { state } = await base.look();
  expect(state.units[0]?.relations).toMatchObject([
    {
      id: relation,
      name: 'db',
      interface: 'store',
      life: 'alive',
      whole: true,
      members: [{ unit: app.name, version: 1 }],
    },
  ]);
  const before = await app.look();
  await base.run('config-changed', { changes: [{ relation, set: text, remove: [] }] });
  const answer = await app.call(path(base.name));
  expect(answer.headers.get('cache-control')).toBe('no-store');
  expect(nodeDocument.parse(await answer.json())).toEqual({ version: 2, settings: text });
  const clock = before.state.units[0]?.relations[0]?.clock ?? 0;
  const after = await app.look(`?epoch=${stage.ctx.epoch}&after=${relation}:${clock}`);
  expect(after.stamp).not.toBe(before.stamp);
  expect(after.state.units[0]?.relations).toMatchObject([
    { whole: false, clock: clock + 1, members: [{ unit: base.name, version: 2, clock: clock + 1 }] },
  ]);
});

test('EN-4 a unit that does not take part, a unit of another VM and odd paths are rejected alike', async () => {
  const foreign = await stage.unit(app.serviceId);
  await foreign.look();
  for (const answer of [
    await foreign.call(path(base.name)),
    await app.call(path(foreign.name)),
    await app.call(path('nothing/0')),
    await app.call(path(base.name, 9_999)),
    await app.call(path(base.name, '9'.repeat(40))),
    await app.call(path('a%00b/0')),
  ]) {
    expect(await codeOf(answer)).toEqual([404, 'node_unknown']);
  }
  expect(await codeOf(await app.agent.call(`/units/${base.name}${path(app.name)}`))).toEqual([404, 'unit_unknown']);
  expect((await app.call(path(base.name, 'x'))).status).toBe(404);
});

test('EN-10 the answer to the end of a run has the new versions, and a change in the relation of another unit is not stored', async () => {
  const run = '0198c2f4-7b1e-7c3a-9d20-5a1f0b6e4c11';
  await app.begin(run, 'config-changed');
  const changes = [relation, 9_999].map((id) => ({ relation: id, set: { user: '"wp"' }, remove: [] }));
  const ended = runEnded.parse(await (await app.end(run, { changes })).json());
  expect(ended).toEqual({ outcome: 'stored', versions: { [relation]: 2 }, dropped: [9_999] });
  expect(runEnded.parse(await (await app.end(run, { changes })).json())).toMatchObject({
    outcome: 'repeated',
    versions: { [relation]: 2 },
  });
});

test('a hook whose settings are too large is rejected, its run says so, and the hook is due again', async () => {
  const run = '0198c2f4-7b1e-7c3a-9d20-5a1f0b6e4c12';
  await app.begin(run, 'config-changed');
  const big = { big: `"${'x'.repeat(64_000)}"` };
  expect(await codeOf(await app.end(run, { changes: [{ relation, set: big, remove: [] }] }))).toEqual([
    422,
    'node_too_large',
  ]);
  expect((await app.row()).failing).toMatchObject({ unit: { hook: 'config-changed', outcome: 'refused' } });
  expect(await (await base.call(path(app.name))).json()).toMatchObject({ version: 2, settings: { user: '"wp"' } });
});
