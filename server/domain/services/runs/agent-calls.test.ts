import { execFileSync } from 'node:child_process';
import { eq } from 'drizzle-orm';
import { v7 as uuid } from 'uuid';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { serviceSettings, units } from '#db/schema/index.ts';
import { unitState } from '#protocol/unit-state.ts';
import { foldHealth } from '#server/domain/health/index.ts';
import { holdVm } from '#server/domain/holds/index.ts';
import { givenAgent } from '#server/testing/agent-door.ts';
import { newKeyPair } from '#server/testing/key-pair.ts';
import { statementsOf } from '#server/testing/statements.ts';
import { readUnitConcerns } from '../health/read-unit-health.ts';
import { sealServiceSecret } from '../settings/service-secret.ts';
import { type StagedUnit, UnitStage } from '../testing/unit-stage.ts';
import { getDue } from './get-due.ts';
import { getRun } from './get-run.ts';
import { listRuns, readRunOutput } from './list-runs.ts';

let stage: UnitStage;
let service: string;

beforeAll(async () => {
  stage = await UnitStage.open();
  service = await stage.service('blog');
});
afterAll(() => stage.close());

const newUnit = () => stage.unit(service);
const due = async (unit: StagedUnit) => (await getDue(stage.ctx, { model: 'prod', unit: unit.name })).items;
const runsOf = async (unit: StagedUnit) => (await listRuns(stage.ctx, { model: 'prod', unit: unit.name })).items;
const codeOf = async (answer: Response) => [answer.status, ((await answer.json()) as { code: string }).code];
const fold = () => foldHealth(stage.ctx, new Date(), { readConcerns: readUnitConcerns });

test('the unit state names what should be on the machine, and its stamp is that of the polls', async () => {
  const unit = await newUnit();
  const { state, stamp } = await unit.look();
  expect(unitState.parse(state)).toEqual(state);
  expect(state).toMatchObject({ protocol: 1, vmId: unit.vmId, epoch: stage.ctx.epoch });
  expect(state.units).toEqual([
    expect.objectContaining({
      ...{ unit: unit.name, model: 'prod', turn: 1, goal: 'alive', serviceExposed: false, settingsVersion: 1 },
      ...{ timeouts: { default: 300 }, masked: [], resolution: null, relations: [] },
      formula: expect.objectContaining({ id: 'Acme.Lab.blog', name: 'blog', version: '1.0.0.0' }),
    }),
  ]);
  expect(stamp).toBe(`"${stage.ctx.epoch}.1.0"`);
  const etag = (await unit.agent.call('/goal-state')).headers.get('etag') ?? '';
  const poll = await unit.agent.call('/goal-state', { headers: { 'if-none-match': etag, 'annex-units': '"x"' } });
  expect([poll.status, poll.headers.get('annex-units')]).toEqual([304, stamp]);
});

test('EN-33 a new unit has its first hooks due, and each hook that ends with 0 is done', async () => {
  const unit = await newUnit();
  await unit.look();
  expect((await due(unit)).map(({ hook }) => hook)).toEqual(['install', 'config-changed', 'start']);
  await unit.run('install');
  expect((await due(unit)).map(({ hook }) => hook)).toEqual(['config-changed', 'start']);
  await unit.run('config-changed');
  await unit.run('start');
  expect(await due(unit)).toEqual([]);
  expect(await unit.row()).toMatchObject({
    record: { formula: '1.0.0.0', configured: { settings: 1 }, started: { boot: null } },
    enteredAt: expect.any(Date),
  });
  expect((await runsOf(unit)).map(({ hook, number, outcome }) => [number, hook, outcome])).toEqual([
    [3, 'start', 'succeeded'],
    [2, 'config-changed', 'succeeded'],
    [1, 'install', 'succeeded'],
  ]);
});

describe('a run', () => {
  test('EN-58 that begins interrupts the run before, whose end changes nothing', async () => {
    const unit = await newUnit();
    const [first, second] = [uuid(), uuid()];
    expect(await (await unit.begin(first, 'install')).json()).toEqual({ number: 1 });
    expect(await (await unit.begin(first, 'install')).json(), 'repeated').toEqual({ number: 1 });
    expect(await (await unit.begin(second, 'install')).json()).toEqual({ number: 2 });
    expect(await codeOf(await unit.end(first))).toEqual([409, 'run_superseded']);
    expect(await codeOf(await unit.begin(first, 'install'))).toEqual([409, 'run_superseded']);
    expect((await unit.row()).record.formula).toBeNull();
    expect((await unit.end(second)).status).toBe(200);
    expect((await runsOf(unit)).map(({ outcome }) => outcome)).toEqual(['succeeded', 'interrupted']);
  });

  test('EN-59 that ends twice changes nothing the second time', async () => {
    const unit = await newUnit();
    const run = await unit.run('install');
    const [one, other] = await Promise.all([unit.end(run), unit.end(run, { exitCode: 3 })]);
    expect([await one?.json(), await other?.json()]).toEqual([
      { outcome: 'repeated', versions: {} },
      { outcome: 'repeated', versions: {} },
    ]);
    expect(await runsOf(unit)).toMatchObject([{ outcome: 'succeeded', exitCode: 0 }]);
  });

  test('EN-27 that was interrupted is not a success, and its hook is due as before', async () => {
    const unit = await newUnit();
    const run = uuid();
    await unit.begin(run, 'install');
    expect((await unit.end(run, { exitCode: null })).status).toBe(200);
    expect(await runsOf(unit)).toMatchObject([{ outcome: 'interrupted' }]);
    expect((await due(unit))[0]).toMatchObject({ hook: 'install', because: 'new-unit', waitsFor: null });
  });

  test('EN-24 that failed leaves the hook due, and names its exit code and its attempts', async () => {
    const unit = await newUnit();
    const reason = { id: 'no_database', params: ['mysql/0'] };
    await unit.run('install', { exitCode: 3, reason });
    expect((await due(unit))[0]).toMatchObject({ hook: 'install', waitsFor: 'failing' });
    expect(await runsOf(unit)).toMatchObject([{ outcome: 'failed', exitCode: 3, reason }]);
    await unit.run('install', {}, { attempt: 2 });
    expect((await unit.row()).failing).toEqual({});
    expect((await due(unit))[0]).toMatchObject({ hook: 'config-changed', waitsFor: null });
  });

  test('of an unknown run, of another VM, or of a unit that is gone is rejected', async () => {
    const [unit, other] = [await newUnit(), await newUnit()];
    expect(await codeOf(await unit.end(uuid()))).toEqual([409, 'run_unknown']);
    const foreign = await other.agent.call(`/units/${unit.name}/runs/${uuid()}`, {
      method: 'PUT',
      body: JSON.stringify({ phase: 'begin', hook: 'install', attempt: 1, formula: '1.0.0.0', timeoutSeconds: 9 }),
    });
    expect(await codeOf(foreign)).toEqual([409, 'unit_gone']);
    expect((await unit.call(`/runs/${uuid()}`, { phase: 'pause' })).status).toBe(400);
  });

  test('EN-78 names its cause, up to an act of an operator', async () => {
    const unit = await newUnit();
    await unit.start();
    const runs = await runsOf(unit);
    expect(runs.at(-1)?.cause).toMatchObject({ because: 'new-unit', act: { action: 'unit.add', by: 'Ada' } });
    await stage.settings(service, 2, '{"title":"Blog"}');
    await stage.ctx.db.execute(`update units set settings_version = 2 where id = '${unit.id}'`);
    const run = await unit.run('config-changed');
    const { causes } = await getRun(stage.ctx, { model: 'prod', unit: unit.name, run });
    expect(causes).toEqual([
      { because: 'other-settings', act: { action: 'service.update', at: expect.any(String), by: 'Ada' } },
    ]);
  });
});

test('EN-23 EN-66 output is readable while the hook runs, and repeated parts change nothing', async () => {
  const unit = await newUnit();
  const run = uuid();
  await unit.begin(run, 'install');
  const send = (text: string, start: number) =>
    unit.agent.call(`/units/${unit.name}/runs/${run}/log`, {
      method: 'POST',
      body: text,
      headers: { 'content-type': 'text/plain', 'content-range': `bytes ${start}-${start + text.length - 1}/*` },
    });
  const line = '+0.012 INFO importing schema\n';
  expect((await send(line, 0)).headers.get('annex-output-bytes')).toBe(String(line.length));
  await send(line, 0);
  await send('+0.480 ERROR no database\n', line.length);
  const { rows } = await readRunOutput(stage.ctx, { model: 'prod', unit: unit.name, run });
  expect(rows.flatMap((row) => (row.kind === 'line' ? [row.text] : []))).toEqual([
    '+0.012 INFO importing schema',
    '+0.480 ERROR no database',
  ]);
  await unit.end(run, { exitCode: 1 });
  const elsewhere = await unit.agent.call(`/units/${unit.name}/runs/${uuid()}/log`, { method: 'POST', body: line });
  expect(await codeOf(elsewhere)).toEqual([404, 'run_unknown']);
});

test('EN-44 hooks without a file count as done, and no run is listed for them', async () => {
  const unit = await newUnit();
  const skipped = ['install', 'config-changed', 'start'].map((hook) => ({ hook }));
  expect((await unit.call('/skipped', { skipped }, 'POST')).status).toBe(204);
  expect(await due(unit)).toEqual([]);
  expect(await runsOf(unit)).toEqual([]);
  expect(await unit.row()).toMatchObject({ skipped: [], enteredAt: expect.any(Date) });
});

test('EN-49 a hook that is skipped after failures leaves a mark until it succeeds', async () => {
  const unit = await newUnit();
  const run = await unit.run('install', { exitCode: 1 });
  await unit.call('/skipped', { skipped: [{ hook: 'install', run }] }, 'POST');
  expect(await unit.row()).toMatchObject({ failing: {}, skipped: [{ hook: 'install', by: 'removal' }] });
  expect(await runsOf(unit)).toMatchObject([{ outcome: 'skipped' }]);
  await unit.run('install');
  expect((await unit.row()).skipped).toEqual([]);
});

test('EN-79 a reboot makes settings and start due again', async () => {
  const unit = await newUnit();
  await unit.look('?boot=one');
  for (const hook of ['install', 'config-changed', 'start']) await unit.run(hook);
  await unit.look('?boot=one');
  expect(await due(unit)).toEqual([]);
  await unit.look('?boot=two');
  expect((await due(unit)).map(({ hook, because }) => [hook, because])).toEqual([
    ['config-changed', 'reboot'],
    ['start', 'reboot'],
  ]);
});

test('EN-76 EN-42 settings are those of the version that the unit should have, with numbers as written', async () => {
  const unit = await newUnit();
  const json =
    '{"title":"My blog","big":12345678901234567890,"e":1e400,"zero":-0,"odd":"\\u0000\\ud800","__proto__":[1]}';
  await stage.settings(service, 7, json);
  await stage.ctx.db.execute(`update units set settings_version = 7 where id = '${unit.id}'`);
  const text = await (await unit.call('/settings')).text();
  const { version, settings } = JSON.parse(text) as { version: number; settings: Record<string, string> };
  expect(version).toBe(7);
  expect(Object.entries(settings)).toEqual([
    ['title', '"My blog"'],
    ['big', '12345678901234567890'],
    ['e', '1e400'],
    ['zero', '-0'],
    ['odd', '"\\u0000\\ud800"'],
    ['__proto__', '[1]'],
  ]);
  expect(await codeOf(await (await newUnit()).agent.call(`/units/${unit.name}/settings`))).toEqual([
    404,
    'unit_unknown',
  ]);
});

test('EN-64 protected settings are encrypted for the certificate of the machine, and stored nowhere in plain text', async () => {
  const pair = newKeyPair();
  const agent = await givenAgent(stage.ctx, stage.door, 'sealed', pair);
  const unit = await stage.unit(service, { agent });
  await stage.settings(service, 9, '{"title":"Blog"}');
  const secret = sealServiceSecret(
    stage.ctx.keys,
    { serviceId: service, version: 9 },
    Buffer.from('{"token":"hunter2"}'),
  );
  await stage.ctx.db
    .update(serviceSettings)
    .set({ secret, secretSetBy: 'user:test-operator' })
    .where(eq(serviceSettings.version, 9));
  await stage.ctx.db.update(units).set({ settingsVersion: 9 }).where(eq(units.id, unit.id));
  const statements = await statementsOf(async () => {
    const document = (await (await unit.call('/settings')).json()) as Record<string, string>;
    const input = Buffer.from(document.protectedSettings ?? '', 'base64');
    const opened = execFileSync('openssl', ['cms', '-decrypt', '-inform', 'DER', '-inkey', pair.key], { input });
    expect(JSON.parse(opened.toString())).toEqual({ token: 'hunter2' });
    expect(document.protectedSettingsCertThumbprint).toMatch(/^[0-9a-f]{40}$/i);
  });
  expect(statements.join()).not.toContain('hunter2');
  const { rows } = await stage.ctx.db.execute('select s::text as dump from service_settings s');
  expect(rows.map(({ dump }) => dump).join()).not.toContain('hunter2');
});

test('a unit that should be there is not removed; one that leaves is removed once', async () => {
  const unit = await newUnit();
  await unit.start();
  expect(await codeOf(await unit.call('', undefined, 'DELETE'))).toEqual([409, 'unit_alive']);
  await stage.ctx.db.execute(`update units set life = 'dying', dying_at = now() where id = '${unit.id}'`);
  expect((await unit.look()).state.units).toMatchObject([{ goal: 'leaving' }]);
  expect((await due(unit)).map(({ hook }) => hook)).toEqual(['stop']);
  await unit.run('stop');
  expect((await unit.call('', undefined, 'DELETE')).status).toBe(204);
  expect((await unit.call('', undefined, 'DELETE')).status, 'repeated').toBe(204);
  expect((await unit.look()).state.units).toEqual([]);
  expect(await codeOf(await unit.begin(uuid(), 'start'))).toEqual([409, 'unit_gone']);
});

test.each([
  ['3:-1', 400],
  ['x', 400],
  ['3:99999999999999', 200],
  ['3:17,3:18', 200],
])('after=%s is answered', async (after, status) => {
  const unit = await newUnit();
  expect((await unit.agent.call(`/units?epoch=${stage.ctx.epoch}&after=${after}`)).status).toBe(status);
});

test('the package of a formula is served to VMs with its units only', async () => {
  const unit = await newUnit();
  const { package: file } = (await unit.look()).state.units[0]?.formula ?? {};
  const known = await unit.agent.call(file?.url.replace('/agent/v1', '') ?? '');
  // The bytes of this formula were never uploaded.
  expect(await codeOf(known)).toEqual([503, 'package_damaged']);
  const stranger = await stage.unit(await stage.service('store'));
  expect(await codeOf(await stranger.agent.call(file?.url.replace('/agent/v1', '') ?? ''))).toEqual([
    404,
    'package_absent',
  ]);
});

test('during a hold, agents get no news of their units', async () => {
  const unit = await newUnit();
  const { stamp } = await unit.look();
  await holdVm(stage.ctx, { vmId: unit.vmId, reason: 'maintenance' });
  expect(await codeOf(await unit.agent.call('/units'))).toEqual([409, 'units_on_hold']);
  const etag = (await unit.agent.call('/goal-state')).headers.get('etag') ?? '';
  await expect
    .poll(async () => {
      const poll = await unit.agent.call('/goal-state', { headers: { 'if-none-match': etag, 'annex-units': stamp } });
      return [poll.status, poll.headers.get('annex-units')];
    })
    .toEqual([304, null]);
});

test('EN-81 a failed hook makes its VM failed, with the hook and its exit code as the cause', async () => {
  const unit = await newUnit();
  await unit.look();
  const row = async () => {
    await fold();
    const { rows } = await stage.ctx.db.execute(`
      select h.health, c.subject, c.cause, c.command, c.exit_code from vm_health h
        left join vm_concerns c on c.vm_id = h.vm_id where h.vm_id = '${unit.vmId}'`);
    return rows[0];
  };
  await unit.agent.call('/reports', { method: 'POST', body: '{}' });
  expect(await row()).toMatchObject({ health: 'progressing', subject: unit.name, cause: 'waiting' });
  await unit.run('install', { exitCode: 3 });
  expect(await row()).toMatchObject({ health: 'progressing', cause: 'retry', command: 'install' });
  await unit.run('install', { exitCode: 3 }, { attempt: 3 });
  expect(await row()).toEqual({
    health: 'failed',
    subject: unit.name,
    cause: 'exit',
    command: 'install',
    exit_code: 3,
  });
  for (const hook of ['install', 'config-changed', 'start']) await unit.run(hook, {}, { attempt: 4 });
  expect(await row()).toMatchObject({ health: 'healthy', subject: null });
});
