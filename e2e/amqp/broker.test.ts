import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { smallPlan as small } from '#server/domain/executions/testing/bound-vm.ts';
import { resultOf } from '#server/domain/executions/testing/machine.ts';
import { type AmqpStage, answer, openAmqpStage, patience, results, takeMessage } from '#server/testing/amqp-stage.ts';

let stage: AmqpStage;
beforeAll(async () => {
  stage = await openAmqpStage();
  stage.startConductor();
});
afterAll(() => stage?.close());

describe('a broker', () => {
  test('whose result queue is deleted gets a new one, and results arrive', async () => {
    const { vmId, queue } = await stage.boundVm();
    const execution = await stage.queue(vmId, small);
    await takeMessage(stage, queue);
    const channel = await stage.channel();
    await channel.deleteQueue(results);
    await expect
      .poll(async () => {
        const other = await stage.channel();
        return other.checkQueue(results).then(
          ({ consumerCount }) => consumerCount,
          () => 0,
        );
      }, patience)
      .toBe(1);
    await answer(stage, resultOf(execution.id));
    await stage.until(execution, 'succeeded');
  });

  test('whose queue of a VM is deleted gets a new one with the next plan', async () => {
    const { vmId, queue } = await stage.boundVm();
    const channel = await stage.channel();
    await expect.poll(async () => isDeclared(queue), patience).toBe(true);
    await channel.deleteQueue(queue);
    const execution = await stage.queue(vmId, small);
    expect((await takeMessage(stage, queue)).properties.messageId).toBe(execution.id);
  });

  test('case 38: that is restarted is used again, and the plans that waited are published', async () => {
    const { vmId, queue } = await stage.boundVm();
    await stage.broker.stop();
    const execution = await stage.queue(vmId, small);
    await expect
      .poll(async () => (await stage.conductor())?.fault, patience)
      .toMatch(/^conductor\.(unreachable|other)$/);
    await stage.broker.start();
    expect((await takeMessage(stage, queue)).properties.messageId).toBe(execution.id);
    await expect.poll(async () => (await stage.conductor())?.fault, patience).toBeNull();
  });

  test('case 39: that has the result queue with other properties is reported, and executions wait', async () => {
    await stage.stopConductor();
    const channel = await stage.channel();
    await channel.deleteQueue(results);
    await channel.assertQueue(results, { durable: true, arguments: { 'x-max-length': 10 } });
    const { vmId, queue } = await stage.boundVm();
    const execution = await stage.queue(vmId, small);
    stage.startConductor();
    await expect.poll(async () => (await stage.conductor())?.fault, patience).toBe('conductor.results');
    expect((await stage.get(execution)).state).toBe('queued');
    await channel.deleteQueue(results);
    expect((await takeMessage(stage, queue)).properties.messageId).toBe(execution.id);
  });
});

async function isDeclared(queue: string): Promise<boolean> {
  const channel = await stage.channel();
  return channel.checkQueue(queue).then(
    () => true,
    () => false,
  );
}
