import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Context } from '#server/domain/context.ts';
import { type AgentDoor, openTestDoor } from '#server/testing/agent-door.ts';
import { testContext } from '#server/testing/context.ts';
import { cancelExecution, filterLog, getResult, readLog, searchLog } from './index.ts';
import { givenMachine, putJson, resultOf } from './testing/machine.ts';

let door: AgentDoor;
let admin: Context;

beforeAll(async () => {
  const opened = await openTestDoor();
  door = opened.door;
  admin = await testContext({ services: opened.ctx, role: 'admin' });
});
afterAll(() => door.close());

/** Returns `levels` nested arrays. */
const nested = (levels: number): unknown => JSON.parse(`${'['.repeat(levels)}${']'.repeat(levels)}`);

test('a log names the number of bytes that have not arrived', async () => {
  const machine = await givenMachine(admin, door);
  const { id } = await machine.queue();
  await machine.next();
  await machine.progress(id, 'running');
  const begun = '[0,"begin",{"run":1,"why":"first"}]\n';
  const log = () => readLog(admin, { vmId: machine.vmId, executionId: id, row: 0 });
  await machine.transcript(id, begun, { 'content-range': `bytes 0-${begun.length - 1}/*` });
  expect(await log()).toMatchObject({ total: 1, missing: 0 });
  const done = '[9,"done",0]\n';
  const start = begun.length + 1_000;
  await machine.transcript(id, done, { 'content-range': `bytes ${start}-${start + done.length - 1}/*` });
  expect(await log()).toMatchObject({ total: 3, missing: 1_000 });
});

describe('a result', () => {
  test('that is sent again is counted, and the first result stays', async () => {
    const machine = await givenMachine(admin, door);
    const { id } = await machine.queue();
    await machine.next();
    await machine.result(id, id, { Body: 'first' });
    for (let again = 0; again < 3; again += 1) {
      expect((await machine.result(id, id, { Body: 'again', ErrorCode: 1 })).status).toBe(204);
    }
    expect(await machine.get(id)).toMatchObject({ state: 'succeeded', errorCode: 0, repeats: 3 });
    expect(await getResult(admin, { vmId: machine.vmId, executionId: id })).toContain('"first"');
  });

  test('keeps its digits', async () => {
    const machine = await givenMachine(admin, door);
    const { id } = await machine.queue();
    await machine.next();
    const body = JSON.stringify(resultOf(id)).replace('"hello w"', '123456789012345678901234567890.10');
    const answer = await machine.agent.call(`/executions/${id}/result`, { method: 'PUT', body });
    expect(answer.status).toBe(204);
    expect(await getResult(admin, { vmId: machine.vmId, executionId: id })).toBe(body);
  });

  test('after a cancellation makes it canceled', async () => {
    const machine = await givenMachine(admin, door);
    const { id } = await machine.queue();
    await machine.next();
    await machine.progress(id, 'running');
    expect(await cancelExecution(admin, { vmId: machine.vmId, executionId: id })).toEqual({ isEnded: false });
    expect(await machine.get(id)).toMatchObject({ state: 'running', cancelAskedBy: admin.actor.name });
    await machine.result(id, id, { ErrorCode: 1, Body: { Message: 'Cancelled.', Cancelled: true } });
    expect(await machine.get(id)).toMatchObject({ state: 'cancelled', message: { id: 'execution.cancelled' } });
  });

  test.each<[what: string, change: object, status: number]>([
    ['of another plan', { SourceID: 'other' }, 422],
    ['with a negative code', { ErrorCode: -1 }, 400],
    ['with half a code', { ErrorCode: 1.5 }, 400],
    ['with a code that is a text', { ErrorCode: '0' }, 400],
    ['with a huge code', { ErrorCode: 1e308 }, 400],
    ['without a code', { ErrorCode: undefined }, 400],
    ['nested too deeply', { Body: nested(1_500) }, 400],
    ['beyond 16 MiB', { Body: 'x'.repeat(16 * 1024 * 1024) }, 413],
  ])('cases 26, 27 and 28: %s is refused, and the execution goes on', async (_, change, status) => {
    const machine = await givenMachine(admin, door);
    const { id } = await machine.queue();
    await machine.next();
    expect((await machine.result(id, id, change)).status).toBe(status);
    expect(await machine.get(id)).toMatchObject({ state: 'delivered', errorCode: null });
  });

  test.each<[code: number, body: unknown, id: string, params: string[]]>([
    [
      1,
      { Message: 'hello ended', AdditionalInfo: { script: 'hello' } },
      'execution.code.1',
      ['hello', 'hello ended', '1'],
    ],
    [10, { Message: 'over' }, 'execution.code.10', ['', 'over', '10']],
    [42, null, 'execution.code.other', ['', '', '42']],
    [107, { Message: 'mine' }, 'execution.code.user', ['', 'mine', '7']],
  ])('with code %i is explained (MU-20)', async (ErrorCode, Body, id, params) => {
    const machine = await givenMachine(admin, door);
    const { id: executionId } = await machine.queue();
    await machine.next();
    await machine.result(executionId, executionId, { ErrorCode, Body });
    expect(await machine.get(executionId)).toMatchObject({ state: 'failed', message: { id, params } });
  });
});

describe('a result in format vCurrent', () => {
  const Result = { IsException: true, Result: { Message: 'no such person' } };
  test.each<[what: string, result: object, state: string, code: number | null, message: object]>([
    [
      'success',
      { IsException: false, Result: { IsException: false, Result: 1 } },
      'succeeded',
      0,
      { id: 'execution.code.0' },
    ],
    ['success in a list', { IsException: false, Result: [{ IsException: false, Result: 1 }] }, 'succeeded', 0, {}],
    ['a failed script', { IsException: false, Result }, 'failed', 1, { params: ['', 'no such person', '1'] }],
    ['a failed script in a list', { IsException: false, Result: [Result] }, 'failed', 1, { id: 'execution.code.1' }],
    [
      'a fault of the plan',
      { IsException: true, Result: ['System.Exception', 'no such file', 'more'] },
      'failed',
      null,
      { id: 'execution.plan-fault', params: ['', 'System.Exception: no such file'] },
    ],
    ['FormatVersion 1.0.0', { FormatVersion: '1.0.0', IsException: false, Result }, 'failed', 1, {}],
  ])('ends the execution: %s', async (_, result, state, errorCode, message) => {
    const machine = await givenMachine(admin, door);
    const { id } = await machine.queue({ Scripts: [], Commands: [{ Name: 'New-Person' }] });
    await machine.next();
    expect((await machine.agent.call(`/executions/${id}/result`, putJson(result))).status).toBe(204);
    expect(await machine.get(id)).toMatchObject({ state, errorCode, message });
    expect(await getResult(admin, { vmId: machine.vmId, executionId: id })).toBe(JSON.stringify(result));
  });

  test('is rejected if it is neither format', async () => {
    const machine = await givenMachine(admin, door);
    const { id } = await machine.queue();
    await machine.next();
    for (const result of [{ Result: 1 }, { IsException: 'no' }, { FormatVersion: '2.0.0', IsException: false }, []]) {
      expect((await machine.agent.call(`/executions/${id}/result`, putJson(result))).status).toBe(400);
    }
  });
});

describe('progress', () => {
  test('case 30: that is older than the stored progress changes nothing', async () => {
    const machine = await givenMachine(admin, door);
    const { id } = await machine.queue();
    await machine.next();
    const call = { n: 1, script: 'a', function: null, row: 1, atMs: 1 };
    await machine.progress(id, 'running', { run: 2, calls: [{ ...call, state: 'succeeded', tookMs: 5 }] });
    await machine.progress(id);
    await machine.progress(id, 'running', { run: 1, calls: [{ ...call, state: 'running' }] });
    await machine.progress(id, 'running', { run: 2, calls: [{ ...call, state: 'running' }] });
    expect(await machine.get(id)).toMatchObject({
      state: 'running',
      run: 2,
      calls: [{ state: 'succeeded', tookMs: 5 }],
    });
  });

  test('adds the last row of a call that has ended, once, and nothing else', async () => {
    const machine = await givenMachine(admin, door);
    const { id } = await machine.queue();
    await machine.next();
    const call = { n: 1, script: 'a', function: null, state: 'succeeded', row: 3, atMs: 1, tookMs: 5 };
    const report = (change: object) => machine.progress(id, 'running', { calls: [{ ...call, ...change }] });
    const stored = async () => (await machine.get(id)).calls.map(({ row, untilRow, state }) => [row, untilRow, state]);
    await report({});
    await report({ row: 9 });
    await report({ state: 'failed', untilRow: 9 });
    expect(await stored()).toEqual([[3, null, 'succeeded']]);
    await report({ row: 4, untilRow: 7 });
    await report({ row: 9, untilRow: 9 });
    expect(await stored()).toEqual([[4, 7, 'succeeded']]);
  });

  test('case 30: with more than 10,000 calls is rejected', async () => {
    const machine = await givenMachine(admin, door);
    const { id } = await machine.queue();
    await machine.next();
    const calls = Array.from({ length: 50_000 }, (_, index) => ({
      ...{ n: index + 1, script: 'a', function: null, state: 'running', row: 1, atMs: 1 },
    }));
    for (const beyond of [calls, calls.slice(0, 10_001), calls.slice(10_000, 10_001)]) {
      const refused = await machine.progress(id, 'running', { calls: beyond });
      expect([refused.status, await refused.json()]).toEqual([
        413,
        expect.objectContaining({ code: 'calls_too_many' }),
      ]);
    }
    for (const calls of [{ n: 10_001 }, [null], [{ n: '7' }]]) {
      expect((await machine.progress(id, 'running', { calls })).status).toBe(400);
    }
    expect((await machine.progress(id, 'running', { calls: calls.slice(0, 10_000) })).status).toBe(204);
    expect((await machine.get(id)).calls).toHaveLength(10_000);
  });

  test.each(['progress', 'transcript', 'result'])(
    'cases 26 and 32: %s of an execution of another VM is 404',
    async (what) => {
      const [machine, other] = [await givenMachine(admin, door), await givenMachine(admin, door)];
      const { id } = await other.queue();
      await other.next();
      const answers = {
        progress: () => machine.progress(id),
        transcript: () => machine.transcript(id, '[]\n'),
        result: () => machine.result(id),
      };
      expect((await answers[what as keyof typeof answers]()).status).toBe(404);
      expect(await other.get(id)).toMatchObject({ state: 'delivered' });
    },
  );

  test('of an execution that was never handed out is rejected', async () => {
    const machine = await givenMachine(admin, door);
    const { id } = await machine.queue();
    expect([(await machine.progress(id)).status, (await machine.result(id)).status]).toEqual([409, 404]);
    expect((await machine.transcript(id, '[]\n')).status).toBe(404);
  });
});

describe('a transcript', () => {
  test('can arrive compressed, in parts and in any order; missing parts and invalid records are shown as such', async () => {
    const machine = await givenMachine(admin, door);
    const { id } = await machine.queue();
    await machine.next();
    const [a, b, c] = ['[0,"out",0,"one"]\n', '{"no":"record"}\n', '[2,"err",1,"three"]\n'];
    const from = a.length + b.length;
    await machine.transcript(id, c, { 'content-range': `bytes ${from}-${from + c.length - 1}/*` });
    await machine.transcript(id, gzipSync(a), {
      'content-range': `bytes 0-${a.length - 1}/*`,
      'content-encoding': 'gzip',
    });
    const read = async () =>
      (await readLog(admin, { vmId: machine.vmId, executionId: id, row: 0 })).rows.map(({ kind, text }) => [
        kind,
        text,
      ]);
    expect(await read()).toEqual([
      ['out', 'one'],
      ['gap', String(b.length)],
      ['err', 'three'],
    ]);
    await machine.transcript(id, b, { 'content-range': `bytes ${a.length}-${from - 1}/*` });
    expect(await read()).toEqual([
      ['out', 'one'],
      ['text', b.trim()],
      ['err', 'three'],
    ]);
  });

  test('is searched in any case and by its text, not by how JSON writes it', async () => {
    const machine = await givenMachine(admin, door);
    const { id } = await machine.queue();
    await machine.next();
    const lines = [
      '[0,"out",1,"Renewing \\u00fcber.example.net"]',
      '[1,"log",{"Level":"error","Body":"über the limit"}]',
      '[2,"err",1,"cannot \\"bind\\""]',
    ];
    await machine.transcript(id, `${lines.join('\n')}\n`);
    const find = async (q: string, row = 0) =>
      (await searchLog(admin, { vmId: machine.vmId, executionId: id, q, row })).found;
    expect(await find('ÜBER')).toEqual([0, 1]);
    expect(await find('über', 1)).toEqual([1]);
    expect(await find('"bind"')).toEqual([2]);
    expect(await find('Level'), 'names of fields are no text').toEqual([]);
    await expect(searchLog(admin, { vmId: machine.vmId, executionId: machine.vmId, q: 'a' })).rejects.toMatchObject({
      code: 'execution_unknown',
    });
  });

  test('is filtered by level: messages, errors on stderr and calls that failed', async () => {
    const machine = await givenMachine(admin, door);
    const { id } = await machine.queue();
    await machine.next();
    const rows = [
      [0, 'log', { Level: 'info', Body: 'renewing' }],
      [1, 'call', 1, 'install', null],
      [2, 'out', 1, 'an error that was printed only'],
      [3, 'err', 1, 'cannot bind'],
      [4, 'err', 1, 'progress'],
      [5, 'end', 1, { ms: 4, error: 'exit code 3' }],
      [6, 'log', { Level: 'warning', Body: 'restoring' }],
      [7, 'log', { Level: 'fatal', Body: 'gave up' }],
    ];
    await machine.transcript(id, rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
    const find = async (level: 'messages' | 'warning' | 'error', row = 0) => {
      const found = await filterLog(admin, { vmId: machine.vmId, executionId: id, level, row });
      return [found.rows.map((each) => each.row), found.next, found.isLast];
    };
    expect(await find('messages')).toEqual([[0, 6, 7], 8, true]);
    expect(await find('warning')).toEqual([[3, 5, 6, 7], 8, true]);
    expect(await find('error')).toEqual([[3, 5, 7], 8, true]);
    expect(await find('error', 6)).toEqual([[7], 8, true]);
    const many = Array.from({ length: 250 }, (_, index) => [8, 'log', { Level: 'error', Body: `error ${index}` }]);
    const text = many.map((row) => `${JSON.stringify(row)}\n`).join('');
    const start = rows.reduce((sum, row) => sum + Buffer.byteLength(JSON.stringify(row)) + 1, 0);
    await machine.transcript(id, text, { 'content-range': `bytes ${start}-${start + text.length - 1}/*` });
    const [first, next] = await find('error', 8);
    expect([(first as number[]).length, next]).toEqual([200, 208]);
    expect(await find('error', 208)).toEqual([Array.from({ length: 50 }, (_, index) => 208 + index), 258, true]);
  });

  test('keeps its row numbers while it grows (MU-57)', async () => {
    const machine = await givenMachine(admin, door);
    const { id } = await machine.queue();
    await machine.next();
    let sent = 0;
    for (let row = 0; row < 20; row += 1) {
      const line = `${JSON.stringify([row, 'out', 1, `line ${row}`])}\n`;
      await machine.transcript(id, line, { 'content-range': `bytes ${sent}-${sent + line.length - 1}/*` });
      sent += line.length;
      const { rows } = await readLog(admin, { vmId: machine.vmId, executionId: id, row: 0, count: 1 });
      expect(rows[0]).toMatchObject({ row: 0, text: 'line 0' });
    }
    const { total, rows } = await readLog(admin, { vmId: machine.vmId, executionId: id, row: 12, count: 2 });
    const searched = await searchLog(admin, { vmId: machine.vmId, executionId: id, q: 'LINE 1', row: 5 });
    expect(searched.found).toEqual([10, 11, 12, 13, 14, 15, 16, 17, 18, 19]);
    expect(searched.next).toBeNull();
    expect([total, rows.map(({ row, text }) => [row, text])]).toEqual([
      20,
      [
        [12, 'line 12'],
        [13, 'line 13'],
      ],
    ]);
  });
});
