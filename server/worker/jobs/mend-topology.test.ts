import { pino } from 'pino';
import { expect, test } from 'vitest';
import { addMachine, getModel, removeMachine } from '#server/domain/topology/index.ts';
import { newStage } from '#server/domain/topology/testing/stage.ts';
import { createJobs } from './index.ts';

test('the worker deletes a removed machine within seconds', async () => {
  const stage = await newStage();
  const { model } = await stage.bootstrapped();
  const { machine } = await addMachine(stage.ctx, { model });
  await removeMachine(stage.ctx, { model, machine });
  const log = pino({ level: 'silent' });
  const job = createJobs({ log }).find(({ name }) => name === 'mend-topology');
  expect(job?.periodSeconds).toBeLessThanOrEqual(5);
  expect(await job?.run({ ...stage.ctx, log, signal: AbortSignal.timeout(9_000) })).toBe(0);
  expect(await getModel(stage.ctx, { model })).toMatchObject({ machines: 0, cloudServices: 0 });
});
