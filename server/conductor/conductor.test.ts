import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { getResult, listUnpublished, publishNext, readLog } from '#server/domain/executions/index.ts';
import { smallPlan as small } from '#server/domain/executions/testing/bound-vm.ts';
import { plan, resultOf } from '#server/domain/executions/testing/machine.ts';
import { type AmqpStage, answer, openAmqpStage, patience, results, takeMessage } from '#server/testing/amqp-stage.ts';
import { startLossyProxy } from '#server/testing/false-broker.ts';
import { longTest } from '#server/testing/long.ts';

let stage: AmqpStage;
beforeAll(async () => {
  stage = await openAmqpStage();
  stage.startConductor();
}, 120_000);
afterAll(() => stage?.close());

const resultText = ({ vmId, id }: { vmId: string; id: string }) =>
  getResult(stage.admin, { vmId, executionId: id }).then((text) => JSON.parse(text ?? 'null') as unknown);

describe('plans', () => {
  test('MU-18 have their ID as message_id, an increasing Stamp, and every property that the Murano agent requires', async () => {
    const { vmId, queue } = await stage.boundVm();
    const first = await stage.queue(vmId, small);
    const { Options: _, ...hello } = plan.Scripts.hello;
    const scripts = { hello, other: plan.Scripts.hello };
    const second = await stage.queue(vmId, { ...small, ID: 'given', Scripts: scripts, Files: plan.Files });
    const message = await takeMessage(stage, queue);
    expect(message.properties).toMatchObject({
      contentType: 'application/json',
      contentEncoding: 'utf-8',
      deliveryMode: 2,
      messageId: first.id,
      replyTo: results,
      headers: { 'annex-turn': first.turn, 'annex-timeout-seconds': 3_600 },
    });
    const hour = 3_600_000;
    expect(Number(message.properties.expiration), 'the portal waits for an hour and a minute').toBeGreaterThan(hour);
    expect(Number(message.properties.expiration)).toBeLessThanOrEqual(hour + 60_000);
    expect(JSON.parse(message.content.toString())).toEqual({
      ...{ ...small, Action: 'Execute', ID: first.id, Stamp: first.stamp, Scripts: {}, Files: {} },
    });
    expect((await stage.get(second)).state, 'one plan at a time').toBe('queued');
    await answer(stage, {
      ...resultOf(first.id, { Action: 'Execution:Result', Time: '2026-11-20 23:56:22.374527', extra: 1.0 }),
    });
    expect(await stage.until(first, 'succeeded')).toMatchObject({ errorCode: 0, late: false });
    expect(await resultText(first)).toMatchObject({
      ...{ Action: 'Execute:Result', Time: '2026-11-20T23:56:22.374527Z', extra: 1, Body: 'hello w' },
    });
    const next = JSON.parse((await takeMessage(stage, queue)).content.toString()) as {
      Stamp: number;
      Scripts: { hello: { Options: unknown } };
    };
    expect(next).toMatchObject({
      ...{ ID: 'given', Files: plan.Files },
      Scripts: { hello: { ...hello, Options: {} }, other: plan.Scripts.hello },
    });
    expect(next.Scripts.hello.Options).toEqual({});
    expect(next.Stamp).toBeGreaterThan(first.stamp);
    await answer(stage, resultOf('another', { SourceID: undefined }), { messageId: 'given' });
    await stage.until(second, 'succeeded');
  });

  test('that were committed but not published when a conductor died are published at the next start', async () => {
    await stage.stopConductor();
    const { vmId, queue } = await stage.boundVm();
    const execution = await stage.queue(vmId, small);
    const committed = await publishNext({ ...stage.admin, now: new Date() }, vmId);
    expect(committed?.planId).toBe(execution.id);
    expect((await stage.get(execution)).state).toBe('delivered');
    stage.startConductor();
    expect((await takeMessage(stage, queue)).properties.messageId).toBe(execution.id);
    await expect.poll(() => listUnpublished(stage.admin), patience).toEqual([]);
    for (let sent = 0; sent < 1_000; sent += 250) {
      await Promise.all(Array.from({ length: 5 }, () => answerMany(50, resultOf(execution.id))));
    }
    await stage.until(execution, 'succeeded');
    await expect.poll(async () => (await stage.get(execution)).repeats, patience).toBe(999);
    expect(await resultText(execution)).toMatchObject({ Body: 'hello w' });
  });
});

longTest(
  'case 38: a firewall that drops all packets: the fault is shown, and the plan is published once packets pass again',
  async () => {
    await stage.stopConductor();
    const proxy = await startLossyProxy(stage.broker.port);
    try {
      stage.startConductor(`amqp://guest:guest@127.0.0.1:${proxy.port}?heartbeat=2&connection_timeout=1000`);
      const { vmId, queue } = await stage.boundVm();
      await answerPlan(await stage.queue(vmId, small), queue);
      proxy.drop();
      const lost = await stage.queue(vmId, small);
      await expect.poll(async () => (await stage.conductor())?.fault, patience).toBe('conductor.unreachable');
      await expect.poll(async () => (await stage.conductor())?.faultDetail, patience).toContain('ETIMEDOUT');
      proxy.recover();
      await answerPlan(lost, queue);
      await expect.poll(async () => (await stage.conductor())?.fault, patience).toBeNull();
    } finally {
      await stage.stopConductor();
      stage.startConductor();
      await proxy.close();
    }
  },
);

/** Takes a plan from the queue of its VM, and sends its result. */
async function answerPlan(execution: { vmId: string; id: string }, queue: string): Promise<void> {
  expect((await takeMessage(stage, queue)).properties.messageId).toBe(execution.id);
  await answer(stage, resultOf(execution.id));
  await stage.until(execution, 'succeeded');
}

async function answerMany(count: number, body: unknown): Promise<void> {
  const channel = await stage.channel();
  for (let sent = 0; sent < count; sent += 1) channel.publish('', results, Buffer.from(JSON.stringify(body)));
  await channel.waitForConfirms();
}

describe('answers', () => {
  test('log messages are in the log in the order of their arrival, each once', async () => {
    const { vmId, queue } = await stage.boundVm();
    const execution = await stage.queue(vmId, small);
    await takeMessage(stage, queue);
    for (const [ID, Body] of [
      ['a', 'first'],
      ['b', 'second'],
      ['a', 'first'],
    ]) {
      const message = { FormatVersion: '2.0.0', ID, SourceID: execution.id, Level: 'info', Body, Action: 'log' };
      await answer(stage, { ...message, Time: '2026-11-22T09:15:03.981Z' });
    }
    await stage.until(execution, 'running');
    const bodies = async () =>
      (await readLog(stage.admin, { vmId, executionId: execution.id, row: 0 })).rows.map(({ text }) => text);
    await answer(stage, resultOf(execution.id));
    await stage.until(execution, 'succeeded');
    expect(await bodies()).toEqual(['first', 'second']);
  });

  longTest('case 37: a message that is not an answer is counted and removed, and the next plan works', async () => {
    const { vmId, queue } = await stage.boundVm();
    const before = await stage.conductor();
    const execution = await stage.queue(vmId, small);
    await takeMessage(stage, queue);
    const headers = { text: 'x', number: 1, yes: true, nothing: null, list: [1, 'a'], table: { a: { b: 1 } } };
    await answer(stage, 'not json {', { messageId: execution.id, headers });
    await answer(stage, '[1]', { messageId: execution.id });
    await answer(stage, '"text"');
    await answer(stage, Buffer.from([0x1f, 0x8b, 8, 0]), { contentEncoding: 'gzip' });
    await answer(stage, Buffer.alloc(20 * 1024 * 1024, 'x'), { messageId: execution.id });
    await answer(stage, resultOf('guessed'));
    await answer(stage, {});
    await expect
      .poll(async () => {
        const { unreadable = 0, unmatched = 0 } = (await stage.conductor()) ?? {};
        return [unreadable - (before?.unreadable ?? 0), unmatched - (before?.unmatched ?? 0)];
      }, patience)
      .toEqual([5, 2]);
    expect((await stage.get(execution)).state).toBe('delivered');
    await answer(stage, resultOf(execution.id));
    await stage.until(execution, 'succeeded');
    expect((await (await stage.channel()).checkQueue(results)).messageCount).toBe(0);
  });
});
