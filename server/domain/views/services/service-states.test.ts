import { v7 as uuid } from 'uuid';
import { beforeAll, describe, expect, test } from 'vitest';
import { setResources } from '#server/domain/localization/index.ts';
import { addRelation, beginRun, endRun } from '#server/domain/services/index.ts';
import { ServiceStage } from '#server/domain/services/testing/service-stage.ts';
import type { Staged } from '#server/domain/topology/testing/stage.ts';
import { testContext } from '#server/testing/context.ts';
import { statementsOf } from '#server/testing/statements.ts';
import { listRecentRuns } from './list-recent-runs.ts';
import { listServiceStates } from './list-service-states.ts';

let stage: ServiceStage;
let blog: { formula: string; version: string };
let store: { formula: string; version: string };

beforeAll(async () => {
  stage = await ServiceStage.open();
  const requires = { db: { interface: 'store' }, cache: { interface: 'memcache', optional: true } };
  blog = await stage.formula('blog', '1.0.0.0', { metadata: { requires } });
  store = await stage.formula('store', '1.0.0.0', { metadata: { provides: { db: { interface: 'store' } } } });
  const admin = await testContext({ services: stage.ctx });
  for (const [lang, text] of [
    ['en', 'No login for {0}.'],
    ['de', 'Kein Zugang für {0}.'],
  ] as const) {
    const file = [{ version: 1, lang, messages: [{ id: 'login', text }] }];
    await setResources(admin, { handler: blog.formula, version: blog.version, lang, file });
  }
});

const states = async (staged: Staged, more: object = {}) =>
  (await listServiceStates(stage.viewer, { model: staged.model, ...more })).items;

/** Lets a hook of a unit fail with a message. */
async function fail(unit: { unit: string; vmId: string }, hook: string, attempt = 1): Promise<string> {
  const run = uuid();
  const at = { vmId: unit.vmId, unit: unit.unit, run };
  await beginRun(stage.ctx, at, { phase: 'begin', hook, attempt, formula: '1.0.0.0', timeoutSeconds: 300 });
  const end = { phase: 'end' as const, exitCode: 1, signal: null, timedOut: false, seconds: 1, output: '' };
  await endRun(stage.ctx, at, { ...end, views: [], reason: { id: 'login', params: ['wp'] } });
  return run;
}

test('a service is shown with its units, their next hooks and the endpoints of its formula', async () => {
  const staged = await stage.stage.bootstrapped();
  await stage.deploy(staged, 'blog', { ...blog, units: 2 });
  await stage.declare(staged, 'store', { ...store, units: 1 });
  const [first, second] = await states(staged);
  expect(first).toMatchObject({
    ...{ name: 'blog', life: 'alive', ...blog, exposed: false, settingsVersion: 1, atOnce: 1 },
    units: [
      { unit: 'blog/0', number: 0, stage: 'installing', isConfirmed: false, next: { hook: 'install' }, running: null },
      { unit: 'blog/1', number: 1, version: '1.0.0.0', settingsVersion: 1, ports: [], failing: [] },
    ],
    endpoints: [
      { side: 'requires', name: 'db', interface: 'store', limit: 1, optional: false, relations: 0 },
      { side: 'requires', name: 'cache', optional: true },
    ],
  });
  expect(second).toMatchObject({ name: 'store', units: [{ stage: 'placed', health: 'unknown' }] });
  await addRelation(stage.ctx, { model: staged.model, endpoints: ['blog', 'store'] });
  const [related] = await states(staged, { service: 'blog' });
  expect(related?.endpoints.map(({ name, relations }) => [name, relations])).toEqual([
    ['db', 1],
    ['cache', 0],
  ]);
});

test('a hook that fails has its reason in the language of the reader', async () => {
  const staged = await stage.stage.bootstrapped();
  await stage.deploy(staged, 'blog', { ...blog, units: 1 });
  const [unit] = (await states(staged))[0]?.units ?? [];
  const run = await fail(unit!, 'install');
  for (const [chosenLanguage, text] of [
    ['en', 'No login for wp.'],
    ['de', 'Kein Zugang für wp.'],
  ]) {
    const [service] = await states(staged, { chosenLanguage });
    expect(service?.units[0]?.failing).toMatchObject([
      { hook: 'install', run, failures: 1, outcome: 'failed', exitCode: 1, resolution: null, reason: { text } },
    ]);
    const { items } = await listRecentRuns(stage.viewer, { model: staged.model, service: 'blog', chosenLanguage });
    expect(items).toMatchObject([{ id: run, unit: 'blog/0', hook: 'install', outcome: 'failed', reason: { text } }]);
  }
});

test('the latest runs of a model are newest first, and of one service only its own', async () => {
  const staged = await stage.stage.bootstrapped();
  await stage.deploy(staged, 'blog', { ...blog, units: 1 });
  await stage.deploy(staged, 'store', { ...store, units: 1 });
  const [first, second] = (await states(staged)).map(({ units }) => units[0]);
  await stage.start(first!);
  await stage.run(second!, 'install');
  const runs = async (more: object) => (await listRecentRuns(stage.viewer, { model: staged.model, ...more })).items;
  expect((await runs({})).map(({ unit }) => unit).sort()).toEqual(['blog/0', 'blog/0', 'blog/0', 'store/0']);
  expect((await runs({ service: 'store' })).map(({ unit, hook }) => [unit, hook])).toEqual([['store/0', 'install']]);
  expect(await runs({ limit: 2 })).toHaveLength(2);
  await stage.declare(staged, 'idle', { ...store, units: 0 });
  expect(await runs({ service: 'idle' })).toEqual([]);
});

describe('what a page may request', () => {
  test('a service or a model that does not exist is unknown', async () => {
    const { model } = await stage.stage.bootstrapped();
    for (const list of [listServiceStates, listRecentRuns]) {
      await expect(list(stage.viewer, { model: 'absent' })).rejects.toMatchObject({ code: 'model_unknown' });
      await expect(list(stage.viewer, { model, service: 'absent' })).rejects.toMatchObject({ code: 'service_unknown' });
    }
    expect(await listServiceStates(stage.viewer, { model })).toEqual({ items: [] });
  });

  test('six units take as many statements as two', async () => {
    const staged = await stage.stage.bootstrapped();
    await stage.deploy(staged, 'blog', { ...blog, units: 2 });
    const taken = async () => (await statementsOf(() => states(staged))).length;
    const few = await taken();
    await stage.declare(staged, 'blog', { ...blog, units: 6 });
    expect(await taken()).toBe(few);
  });
});
