import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { handOutNext, takeResult, takeTranscript } from '#server/domain/executions/index.ts';
import { plan, resultOf } from '#server/domain/executions/testing/machine.ts';
import { testContext } from '#server/testing/context.ts';
import { openRestDoor, type RestCall, type RestDoor } from '#server/testing/rest-door.ts';

interface Shown {
  id: string;
  planId: string;
  state: string;
  message: { id: string; text: string; lang: string } | null;
}

let door: RestDoor;
let vms = 0;
const operator: RestCall = { as: 'operator' };
const german = { 'accept-language': 'de' };

beforeAll(async () => {
  door = await openRestDoor();
});
afterAll(() => door.close());

const givenVm = async () =>
  (await door.expect<{ id: string }>('createVm', {}, 201, { body: { name: `plans-${++vms}` } })).id;
const queue = (id: string, outcome: number | readonly [number, string], body: object = { plan }, call: RestCall = {}) =>
  door.expect<Shown>('queueExecution', { id }, outcome, { ...call, body });

/** Makes the VM's machine fetch its next execution, write these rows and send a result. */
async function machineRuns(vmId: string, executionId: string, rows: unknown[], result: object = {}): Promise<void> {
  const ctx = { ...(await testContext({ services: door.services, role: 'admin' })), now: new Date() };
  await handOutNext(ctx, vmId);
  const lines = rows.map((row) => `${JSON.stringify(row)}\n`).join('');
  const body = (async function* () {
    yield Buffer.from(lines);
  })();
  await takeTranscript(ctx, { vmId, executionId, range: null }, body);
  await takeResult(ctx, vmId, executionId, JSON.stringify(resultOf(executionId, result)));
}

describe('an execution', () => {
  test('is queued, shown and listed, and its plan, result and log are served', async () => {
    const id = await givenVm();
    const queued = await door.call('POST', `/vms/${id}/executions`, { body: { plan } });
    const { id: execution } = queued.body as Shown;
    expect([queued.status, queued.headers.get('location')]).toEqual([201, `/api/v1/vms/${id}/executions/${execution}`]);
    await door.expect('getExecutionResult', { id, execution }, [404, 'result_missing'], operator);
    const rows = [
      [0, 'begin', { run: 1, why: 'first' }],
      [1, 'out', 1, 'one'],
      [2, 'log', { Level: 'info', Body: 'two' }],
    ];
    await machineRuns(id, execution, rows);
    const shown = await door.expect<Shown>('getExecution', { id, execution }, 200, { ...operator, headers: german });
    expect(shown).toMatchObject({
      state: 'succeeded',
      message: { id: 'execution.code.0', text: 'Der Plan lief bis zum Ende.', lang: 'de' },
    });
    for (const operation of ['listExecutions', 'listVmExecutions']) {
      const query = operation === 'listExecutions' ? '?q=plans-1' : '?state=succeeded';
      const { items } = await door.expect<{ items: Shown[] }>(operation, { id }, 200, { ...operator, query });
      expect(items.map((item) => item.id)).toContain(execution);
    }
    const read = async (what: string) =>
      (await door.call('GET', `/vms/${id}/executions/${execution}/${what}`, operator)).text;
    expect(await read('plan')).toBe(JSON.stringify(plan));
    expect(await read('result')).toBe(JSON.stringify(resultOf(execution)));
    expect(await read('log')).toBe('one\ntwo\n');
    expect(await read('log?from=2')).toBe('two\n');
    const jsonl = (await read('log?format=jsonl')).trim().split('\n');
    expect(jsonl.map((line) => (JSON.parse(line) as { row: number }).row)).toEqual([0, 1, 2]);
    expect(await read('log?follow=true'), 'ends with the execution').toBe('one\ntwo\n');
  });

  test('is queued once if its plan has an ID', async () => {
    const id = await givenVm();
    const body = { plan: { ...plan, ID: `once-${id}` } };
    const first = await queue(id, 201, body);
    expect(await queue(id, 200, body)).toMatchObject({ id: first.id, planId: `once-${id}` });
    await queue(id, [409, 'plan_id_taken'], { plan: { ...body.plan, Name: 'Other' } });
  });

  test('that waits is canceled immediately, and one on a machine when it has ended', async () => {
    const id = await givenVm();
    const [first, second] = [await queue(id, 201), await queue(id, 201)];
    const cancel = (execution: string, outcome: number | readonly [number, string]) =>
      door.expect<Shown>('cancelExecution', { id, execution }, outcome, { ...operator, body: {} });
    const ctx = { ...(await testContext({ services: door.services, role: 'admin' })), now: new Date() };
    await handOutNext(ctx, id);
    expect(await cancel(first.id, 202)).toMatchObject({ state: 'delivered' });
    expect(await cancel(second.id, 200)).toMatchObject({
      state: 'cancelled',
      message: { text: 'The execution was canceled.' },
    });
    await cancel(second.id, [409, 'execution_concluded']);
    await queue(id, 201);
    expect(await door.expect('cancelWaitingExecutions', { id }, 200, operator)).toEqual({ cancelled: 1 });
  });

  test('that is unknown, or of another VM, is 404', async () => {
    const [id, other] = [await givenVm(), await givenVm()];
    const execution = (await queue(other, 201)).id;
    for (const operation of [
      'getExecution',
      'getExecutionPlan',
      'getExecutionResult',
      'getExecutionLog',
      'getExecutionArchive',
    ]) {
      await door.expect(operation, { id, execution }, [404, 'execution_unknown'], operator);
    }
    await door.expect('cancelExecution', { id, execution }, [404, 'execution_unknown'], { ...operator, body: {} });
    await queue('00000000-0000-7000-8000-000000000000', [404, 'vm_unknown']);
  });
});

describe('a plan', () => {
  test('that cannot run is rejected with its code and every fault, in the language of the caller', async () => {
    const id = await givenVm();
    const bad = { ...plan, Action: 'x', Files: {} };
    const { status, body } = await door.call('POST', `/vms/${id}/executions`, { body: { plan: bad }, headers: german });
    expect(status).toBe(422);
    expect(body).toMatchObject({
      code: 'plan_invalid',
      detail: 'Der Ausführungsplan kann nicht ausgeführt werden (Code 2).',
      errors: [
        { path: '/Action', code: 'plan_action' },
        { path: '/Scripts/hello/EntryPoint', code: 'plan_file_missing', message: expect.stringContaining('f1') },
      ],
    });
  });

  test('is checked without being queued', async () => {
    const id = await givenVm();
    const check = (body: unknown, query = '') =>
      door.expect<{ code: number }>('validateExecutionPlan', {}, 200, { ...operator, body, query });
    expect(await check(plan)).toMatchObject({
      code: 0,
      faults: [],
      warnings: [{ path: '/Scripts/hello/Options', code: 'lint_script_timeout', message: expect.any(String) }],
      converted: false,
    });
    expect(await check(plan, `?vm=${id}`)).toMatchObject({ code: 0 });
    expect(await check({ FormatVersion: '4.0.0' })).toMatchObject({
      code: 9,
      faults: [{ path: '/FormatVersion', code: 'plan_format_newer', message: expect.any(String) }],
    });
    expect(await door.expect('listVmExecutions', { id }, 200, operator)).toEqual({ items: [], nextCursor: null });
  });

  test.each([
    ['viewer', 'forbidden'],
    ['operator', 'scripts_forbidden'],
    ['publisher', 'forbidden'],
  ] as const)('cannot be queued by the role %s', async (as, code) => {
    await queue(await givenVm(), [403, code], { plan }, { as });
  });
});
