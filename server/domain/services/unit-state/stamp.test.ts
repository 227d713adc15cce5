import { v7 as uuid } from 'uuid';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { listAgentNews } from '#server/domain/enrollment/index.ts';
import { openAgentDoor } from '#server/testing/agent-door.ts';
import { statementsOf } from '#server/testing/statements.ts';
import { addRelation } from '../relations/index.ts';
import { getRun } from '../runs/get-run.ts';
import { type StagedUnit, UnitStage } from '../testing/unit-stage.ts';

let stage: UnitStage;
let relation: number;
let blog: StagedUnit;
let store: StagedUnit;

beforeAll(async () => {
  stage = await UnitStage.open();
  const provider = await stage.service('store', { metadata: { provides: { feed: { interface: 'store' } } } });
  const consumer = await stage.service('blog', { metadata: { requires: { db: { interface: 'store' } } } });
  ({ id: relation } = await addRelation(stage.ctx, { model: 'prod', endpoints: ['blog', 'store'] }));
  [blog, store] = [await stage.unit(consumer), await stage.unit(provider)];
  await blog.start();
  await store.start();
});
afterAll(() => stage.close());

const etagOf = async ({ agent }: StagedUnit) => (await agent.call('/goal-state')).headers.get('etag') ?? '';

async function poll(unit: StagedUnit, stamp: string, wait = 0, door = stage.door): Promise<string | null> {
  const headers = { ...unit.agent.authorization, 'if-none-match': await etagOf(unit), 'annex-units': stamp };
  const answer = await fetch(`${door.url}/goal-state?wait=${wait}`, { headers });
  expect(answer.status).toBe(304);
  return answer.headers.get('annex-units');
}

const setFeed = (value: string) =>
  store.run(
    'feed-relation-joined',
    { changes: [{ relation, set: { host: value }, remove: [] }] },
    {
      ...{ relation, remoteUnit: blog.name, version: 1 },
    },
  );

test('a poll with the current stamp runs no statement, and one of an agent without units is as before', async () => {
  const { stamp } = await blog.look();
  const etag = await etagOf(blog);
  const headers = { 'if-none-match': etag, 'annex-units': stamp };
  await expect.poll(() => statementsOf(() => blog.agent.call('/goal-state', { headers }))).toEqual([]);
  const without = await blog.agent.call('/goal-state', { headers: { 'if-none-match': etag } });
  expect(without.headers.get('annex-units')).toBeNull();
  const report = await blog.agent.call('/reports', { method: 'POST', body: '{}', headers: { 'annex-units': stamp } });
  expect([report.status, report.headers.get('annex-units')]).toEqual([204, stamp]);
});

test('EN-71 a flush ends the held polls of the other participants at every gateway, and the next look has the change', async () => {
  const other = await openAgentDoor(stage.ctx);
  try {
    const { stamp, state } = await blog.look();
    const held = poll(blog, stamp, 30, other);
    await setFeed('"10.0.0.4"');
    const news = await held;
    expect(news).not.toBe(stamp);
    const clock = state.units[0]?.relations[0]?.clock ?? 0;
    const after = await blog.look(`?epoch=${stage.ctx.epoch}&after=${relation}:${clock}`);
    expect(after.stamp).toBe(news);
    expect(after.state.units[0]?.relations).toMatchObject([
      { id: relation, clock: clock + 1, whole: false, members: [{ unit: store.name, version: 2 }] },
    ]);
  } finally {
    await other.close();
  }
});

test('EN-71 a gateway that received no wake-up finds the VMs whose units or relations moved', async () => {
  const since = new Date();
  await setFeed('"10.0.0.5"');
  const moved = (await listAgentNews(stage.ctx.db, new Date(since.getTime() - 1_000))).map(({ vmId }) => vmId);
  expect(moved).toEqual(expect.arrayContaining([blog.vmId, store.vmId]));
});

test('EN-28 EN-78 a change is due at the other units, and its runs name the run that wrote it', async () => {
  const written = await setFeed('"10.0.0.6"');
  const { state } = await blog.look();
  const version = state.units[0]?.relations[0]?.members.find(({ unit }) => unit === store.name)?.version;
  const about = { relation, remoteUnit: store.name, version };
  await blog.run('db-relation-joined', {}, about);
  const run = await blog.run('db-relation-changed', {}, about);
  const { causes } = await getRun(stage.ctx, { model: 'prod', unit: blog.name, run });
  expect(causes[0]).toMatchObject({ because: 'after-joined', run: { id: written, unit: store.name } });
  expect(causes.at(-1)?.act, 'the chain ends at an act').toMatchObject({ by: expect.any(String) });
});

test('EN-10 a hook that failed changes nothing for others', async () => {
  const { stamp } = await blog.look();
  const run = uuid();
  await store.begin(run, 'feed-relation-changed', { relation, remoteUnit: blog.name, version: 1 });
  await store.end(run, { exitCode: 1 });
  expect((await blog.look()).stamp).toBe(stamp);
  expect((await store.row()).failing[String(relation)]).toMatchObject({ run, remoteUnit: blog.name, exitCode: 1 });
});
