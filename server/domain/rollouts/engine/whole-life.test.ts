import { expect, test } from 'vitest';
import type { GivenVm } from '#server/testing/fleet.ts';
import { createRollout } from '../create-rollout.ts';
import { getRollout } from '../get-rollout.ts';
import { checkRollout } from '../planning/check-rollout.ts';
import { planRollout } from '../planning/plan-rollout.ts';
import { requestPlan } from '../request-plan.ts';
import { revertRollout } from '../revert-rollout.ts';
import { startRollout } from '../start-rollout.ts';
import { probe, rolloutStage } from '../testing/rollout-stage.ts';

test('a rollout in rings is planned, started, halted by a failure, and reverted', async () => {
  const stage = await rolloutStage();
  const { services } = stage;
  const vms = await stage.givenFleet(4);
  const { id } = await createRollout(stage.as(0), {
    name: 'probe 1.1',
    select: { ids: vms.map(({ vmId }) => vmId) },
    change: { kind: 'set', handler: probe, version: '1.1.0.0' },
    rings: [
      { name: 'half', upTo: { percent: 50 } },
      { name: 'all', upTo: { percent: 100 } },
    ],
    gates: { soakSeconds: 0, bakeSeconds: 0, ramp: false, inFlight: { count: 10 }, compare: null },
  } as Parameters<typeof createRollout>[1]);
  await requestPlan(stage.as(1), { id });
  await planRollout(services, id);
  const { plan } = await getRollout(stage.as(2), { id });
  await startRollout(stage.as(2), { id, plan: plan?.hash ?? '' });
  await checkRollout(services, id, stage.at(2));
  await stage.pass(3);
  expect(await stage.counts(id)).toEqual({ members: 4, inFlight: 2, queued: 2 });
  const begun = (await stage.steps(id)).map(({ vmId }) => vms.find((vm) => vm.vmId === vmId) as GivenVm);
  const [good, bad] = begun as [GivenVm, GivenVm];
  await stage.succeed(good, 10);
  await stage.fail(bad, 10);
  await stage.look(11);
  expect(await getRollout(stage.as(12), { id })).toMatchObject({
    state: 'paused',
    pausedBy: 'gate',
    needsPerson: true,
    counts: { succeeded: 1, failed: 1, queued: 2 },
  });
  const revert = await revertRollout(stage.as(13), { id, start: true });
  await stage.look(13);
  expect(await getRollout(stage.as(14), { id })).toMatchObject({
    state: 'aborted',
    counts: { succeeded: 1, failed: 1, unreached: 2 },
    revertedBy: revert.id,
  });
  await planRollout(services, revert.id);
  await checkRollout(services, revert.id, stage.at(15));
  await stage.pass(16);
  for (const vm of begun) {
    expect(await stage.step(revert.id, vm)).toMatchObject({ state: 'inFlight', touched: [{ version: '1.0.0.0' }] });
    await stage.succeed(vm, 20, { version: '1.0.0.0', sequenceNumber: 3 });
  }
  await stage.look(21);
  expect(await getRollout(stage.as(22), { id: revert.id })).toMatchObject({
    state: 'finished',
    counts: { members: 2, succeeded: 2 },
  });
});
