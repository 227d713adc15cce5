import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { goalStateHeads } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import { cancelExecution, getPlan, getResult, queueExecution, readLog } from '#server/domain/executions/index.ts';
import { givenMachine, plan, putJson, resultOf } from '#server/domain/executions/testing/machine.ts';
import { type AgentDoor, givenProbe, openTestDoor } from '#server/testing/agent-door.ts';
import { testContext } from '#server/testing/context.ts';

let door: AgentDoor;
let admin: Context;

beforeAll(async () => {
  const opened = await openTestDoor();
  door = opened.door;
  admin = await testContext({ services: opened.ctx, role: 'admin' });
});
afterAll(() => door.close());

describe('an execution from its queue to its result', () => {
  test('has the requests and responses of docs/protocol.md, byte for byte', async () => {
    const machine = await givenMachine(admin, door);
    const { id, stamp, turn } = await machine.queue();
    const answer = await machine.agent.call('/executions/next');
    const text = await answer.text();
    expect(answer.headers.get('content-length')).toBe(String(Buffer.byteLength(text)));
    expect(answer.headers.get('repr-digest')).toMatch(/^sha-256=:[\w+/]+=*:$/);
    const { Action, FormatVersion, ...others } = plan;
    const sent = { FormatVersion, Action, ID: id, Stamp: stamp, ...others };
    expect(text).toBe(JSON.stringify({ protocol: 1, id, stamp, turn, timeoutSeconds: 3600, plan: sent, files: {} }));
    expect(await getPlan(admin, { vmId: machine.vmId, executionId: id }), 'kept as it was given').toBe(
      JSON.stringify(plan),
    );

    expect((await machine.progress(id)).status).toBe(204);
    expect(await machine.get(id)).toMatchObject({ state: 'delivered', receivedAt: expect.any(String) });
    const calls = [{ n: 1, script: 'hello', function: null, state: 'running', row: 2, atMs: 12 }];
    const running = await machine.progress(id, 'running', { calls });
    expect([running.status, running.headers.get('annex-next-after')]).toEqual([204, '1']);
    expect(await machine.get(id)).toMatchObject({ state: 'running', run: 1, calls: [{ n: 1, state: 'running' }] });

    const rows = [
      [0, 'begin', { run: 1, why: 'first' }],
      [9, 'log', { FormatVersion: '2.0.0', ID: 'm', Level: 'info', Body: 'renewing', Action: 'log', Time: 't' }],
      [12, 'call', 1, 'hello', null],
      [31, 'out', 1, 'hello w'],
      [33, 'end', 1, { exitCode: 0, ms: 21 }],
      [36, 'done', 0],
    ];
    const lines = rows.map((row) => `${JSON.stringify(row)}\n`).join('');
    const range = { 'content-range': `bytes 0-${lines.length - 1}/${lines.length}` };
    const taken = await machine.transcript(id, lines, range);
    expect([taken.status, taken.headers.get('annex-output-bytes')]).toEqual([204, String(lines.length)]);
    const log = await readLog(admin, { vmId: machine.vmId, executionId: id, row: 0 });
    expect(log.total).toBe(6);
    expect(log.rows.map(({ kind, n, text: shown }) => [kind, n, shown])).toEqual([
      ['begin', null, 'first'],
      ['log', null, 'renewing'],
      ['call', 1, 'hello'],
      ['out', 1, 'hello w'],
      ['end', 1, '{"exitCode":0,"ms":21}'],
      ['done', 0, ''],
    ]);

    expect((await machine.result(id)).status).toBe(204);
    expect(await machine.get(id)).toMatchObject({
      state: 'succeeded',
      errorCode: 0,
      late: false,
      dueAt: null,
      message: { id: 'execution.code.0' },
    });
    expect(await getResult(admin, { vmId: machine.vmId, executionId: id })).toBe(JSON.stringify(resultOf(id)));
    expect((await machine.progress(id, 'running')).status, 'after the end').toBe(409);
    expect(await machine.next()).toBeNull();
  });

  test('is announced by polls and reports with its turn, and ends a held poll within a second', async () => {
    const machine = await givenMachine(admin, door);
    const etag = await machine.etag();
    const held = machine.poll(etag, '?wait=30');
    const { id, stamp, turn } = await machine.queue();
    const began = performance.now();
    const answer = await held;
    expect(performance.now() - began).toBeLessThan(1_000);
    expect([answer.status, answer.headers.get('annex-execution')]).toEqual([304, `${stamp}; turn=${turn}`]);
    const report = await machine.agent.call('/reports', { method: 'POST', body: '{}' });
    expect(report.headers.get('annex-execution')).toBe(`${stamp}; turn=${turn}`);
    await machine.next();
    expect((await machine.poll(etag)).headers.get('annex-execution'), 'handed out').toBeNull();
    await machine.progress(id);
    await cancelExecution(admin, { vmId: machine.vmId, executionId: id });
    expect((await machine.poll(etag, '?wait=30')).headers.get('annex-execution-cancel')).toBe(String(stamp));
    await machine.result(id);
    expect((await machine.poll(etag)).headers.get('annex-execution-cancel')).toBeNull();
  });

  test('takes its turn among the goal states, and a higher stamp than any before (MU-27)', async () => {
    const machine = await givenMachine(admin, door);
    const first = await machine.queue();
    await givenProbe(admin, machine.vmId);
    const second = await machine.queue();
    const third = await machine.queue();
    const [head] = await admin.db.select().from(goalStateHeads).where(eq(goalStateHeads.vmId, machine.vmId));
    expect([first.turn + 1, first.turn + 2, first.turn + 3]).toEqual([head?.turn, second.turn, third.turn]);
    const back = await queueExecution({ ...admin, now: new Date(0) }, { vmId: machine.vmId, plan });
    expect(back.execution.stamp, 'the clock was set back').toBe(third.stamp + 1);
    expect(second.stamp).toBeGreaterThan(first.stamp);
    expect((await machine.next())?.stamp, 'the lowest turn comes first').toBe(first.stamp);
  });
});

describe('platforms', () => {
  test('are stored, and plans are checked against them', async () => {
    const machine = await givenMachine(admin, door);
    const reported = { platforms: { Bash: { version: '5.2' } }, python: '3.11.2', executionPlans: 'on' };
    expect((await machine.agent.call('/platforms', putJson(reported))).status).toBe(204);
    await expect(machine.queue()).rejects.toMatchObject({ code: 'plan_invalid', params: { code: 3 } });
    expect((await machine.agent.call('/platforms', putJson({ ...reported, executionPlans: 'off' }))).status).toBe(204);
    const bash = { FormatVersion: '2.0.0', Body: 'return 1' };
    await expect(machine.queue(bash)).rejects.toMatchObject({ kind: 'conflict', code: 'executions_off' });
    expect((await machine.agent.call('/platforms', putJson({ platforms: [] }))).status).toBe(400);
  });
});
