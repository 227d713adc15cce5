import { v7 as uuid } from 'uuid';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type StagedUnit, UnitStage } from '#server/domain/services/testing/unit-stage.ts';
import { openRestDoor, type RestDoor } from '#server/testing/rest-door.ts';

let door: RestDoor;
let stage: UnitStage;
let unit: StagedUnit;
const viewer = { as: 'viewer' as const };

beforeAll(async () => {
  door = await openRestDoor();
  stage = await UnitStage.open(door.services);
  unit = await stage.unit(await stage.service('blog'));
});
afterAll(async () => {
  await stage.close();
  await door.close();
});

test('EN-32 due hooks, runs and their output over the API', async () => {
  const [service = '', number = ''] = unit.name.split('/');
  const path = { model: 'prod', service, number };
  await unit.look();
  expect(await door.expect('listDueHooks', path, 200, viewer)).toMatchObject({
    items: [{ hook: 'install', because: 'new-unit' }, { hook: 'config-changed' }, { hook: 'start' }],
  });
  const first = await unit.run('install', { exitCode: 3 });
  const run = uuid();
  await unit.begin(run, 'install', { attempt: 2 });
  await unit.agent.call(`/units/${unit.name}/runs/${run}/log`, { method: 'POST', body: '+0.1 INFO hello\n' });
  const listed = await door.expect<{ items: { id: string }[] }>('listHookRuns', path, 200, viewer);
  expect(listed.items).toMatchObject([
    { id: run, number: 2, outcome: 'running', attempt: 2, endedAt: null },
    { id: first, number: 1, outcome: 'failed', exitCode: 3, seconds: 1.5 },
  ]);
  const failed = { ...viewer, query: '?outcome=failed&hook=install&limit=1' };
  expect(await door.expect('listHookRuns', path, 200, failed)).toMatchObject({
    items: [{ id: first }],
    nextCursor: null,
  });
  expect(await door.expect('getHookRun', { ...path, run: first }, 200, viewer)).toMatchObject({
    causes: [{ because: 'new-unit', act: { action: 'unit.add', by: 'Ada' } }],
  });
  expect(await door.expect('readHookRunOutput', { ...path, run }, 200, { as: 'operator' })).toMatchObject({
    rows: [{ kind: 'line', text: '+0.1 INFO hello' }],
    total: 1,
  });
  const file = await door.call('GET', `/models/prod/units/${unit.name}/runs/${run}/log`, { as: 'operator' });
  expect([file.status, file.text]).toEqual([200, '+0.1 INFO hello\n']);
  expect(file.headers.get('content-type')).toBe('text/plain; charset=utf-8');
  expect(file.headers.get('content-disposition')).toBe('attachment; filename="blog-0-2-install.txt"');
  await door.expect('downloadHookRunOutput', { ...path, run: uuid() }, [404, 'run_unknown'], { as: 'operator' });
  await door.expect('downloadHookRunOutput', { ...path, run }, [403, 'forbidden'], viewer);
  await door.expect('readHookRunOutput', { ...path, run }, [403, 'forbidden'], viewer);
  await door.expect('getHookRun', { ...path, run: uuid() }, [404, 'run_unknown'], viewer);
  await door.expect('listDueHooks', { ...path, number: '99' }, [404, 'unit_unknown'], viewer);
});

test('EN-32 hooks are in the queue of their VM, with their unit, their run and the reason why they wait', async () => {
  const store = await stage.unit(await stage.service('store'));
  const queue = (language = 'en') =>
    door.expect('getVmQueue', { id: store.vmId }, 200, { ...viewer, headers: { 'accept-language': language } });
  await store.agent.call('/reports', { method: 'POST', body: '{}' });
  await store.look();
  const of = { model: 'prod', remoteUnit: null };
  expect(await queue()).toMatchObject({
    now: null,
    next: [{ kind: 'hook', id: null, name: store.name, turn: 1, hook: { ...of, hook: 'install' }, reason: null }],
    waiting: [{ reason: { code: 'hook_after', text: 'Waiting for install' } }, { hook: { ...of, hook: 'start' } }],
  });
  const run = uuid();
  await store.begin(run, 'install');
  expect(await queue()).toMatchObject({ now: { id: run, hook: { hook: 'install' }, limitSeconds: 300 }, next: [] });
  await store.end(run, { exitCode: 1 });
  const text = 'Fehlgeschlagen; wartet auf den nächsten Versuch';
  const failed = { reason: { code: 'hook_failed', text }, hook: { nextAttemptBefore: expect.any(String) } };
  const waiting = [failed, { reason: { text: 'Wartet auf install' } }, {}];
  expect(await queue('de')).toMatchObject({ now: null, next: [], waiting });
});
