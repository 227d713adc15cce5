import { beforeEach, expect, test } from 'vitest';
import { type RolloutStage, rolloutStage } from './testing/stage.ts';

let stage: RolloutStage;

beforeEach(async () => {
  stage = await rolloutStage();
});

test('a rollout with one ring publishes, sees every VM healthy, and finishes', async () => {
  const vms = await stage.givenFleet(4);
  const id = await stage.givenRollout(vms);
  await stage.pass(1);
  expect(await stage.counts(id)).toEqual({ members: 4, inFlight: 4 });
  for (const vm of vms) await stage.succeed(vm, 10);
  await stage.look(11);
  expect(await stage.counts(id)).toEqual({ members: 4, succeeded: 4 });
  expect(await stage.rollout(id)).toMatchObject({ state: 'finished', dueAt: null, endedAt: stage.at(11) });
  for (const vm of vms) {
    expect(await stage.step(id, vm)).toMatchObject({
      state: 'succeeded',
      attempt: 1,
      touched: [{ name: 'probe', sequenceNumber: 2, version: '1.1.0.0', before: { version: '1.0.0.0' } }],
    });
    expect(await stage.published(id, vm)).toHaveLength(1);
  }
});
