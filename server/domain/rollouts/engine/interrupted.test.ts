import { beforeEach, expect, test } from 'vitest';
import { holdVm } from '#server/domain/holds/index.ts';
import type { GivenVm } from '#server/testing/fleet.ts';
import { abortRollout } from '../abort-rollout.ts';
import { pauseRollout } from '../pause-rollout.ts';
import { resumeRollout } from '../resume-rollout.ts';
import { type RolloutStage, rolloutStage } from '../testing/rollout-stage.ts';

let stage: RolloutStage;

beforeEach(async () => {
  stage = await rolloutStage();
});

test('RO-23 a gate halts the rollout once, and nothing else begins', async () => {
  const vms = await stage.givenFleet(4);
  const id = await stage.givenRollout(vms, {
    rings: [{ size: 2, errors: { count: 1 }, success: { share: 5_000, atLeast: 1 } }, { size: 2 }],
  });
  await stage.pass(1);
  const [good, bad] = (await stage.steps(id)).map(({ vmId }) => vms.find((vm) => vm.vmId === vmId) as GivenVm);
  await stage.succeed(good as GivenVm, 10);
  await stage.fail(bad as GivenVm, 10);
  await stage.look(11);
  expect(await stage.rollout(id)).toMatchObject({ state: 'paused', pausedBy: 'gate', why: [{ code: 'errors_count' }] });
  expect((await stage.rings(id)).map(({ state }) => state)).toEqual(['halted', 'waiting']);
  expect(await stage.activity(id, 'rollout.halt')).toHaveLength(1);
  await stage.look(12);
  expect(await stage.counts(id)).toEqual({ members: 4, succeeded: 1, failed: 1, queued: 2 });
  expect(await stage.activity(id, 'rollout.halt')).toHaveLength(1);
});

test('RO-28 a pause takes back what no agent has fetched; a resume begins with these VMs', async () => {
  const vms = await stage.givenFleet(3);
  const id = await stage.givenRollout(vms, { rings: [{ size: 3, inFlight: { count: 2 } }] });
  await stage.pass(1);
  const [told, untold] = (await stage.steps(id)).map(({ vmId }) => vms.find((vm) => vm.vmId === vmId) as GivenVm) as [
    GivenVm,
    GivenVm,
  ];
  await told.deliver(stage.at(2));
  expect(await pauseRollout(stage.as(3), { id })).toMatchObject({ state: 'paused', recalling: 1 });
  await stage.pass(3);
  expect(await stage.step(id, told)).toMatchObject({ state: 'inFlight' });
  expect(await stage.step(id, untold)).toMatchObject({ state: 'recalled' });
  const text = JSON.parse((await stage.head(untold)).text);
  expect(text.extensions).toMatchObject([{ name: 'probe', version: '1.0.0.0' }]);
  await stage.succeed(told, 4);
  await stage.look(5);
  expect(await stage.counts(id)).toEqual({ members: 3, succeeded: 1, queued: 2 });
  await resumeRollout(stage.as(6), { id });
  await stage.pass(6);
  expect(await stage.step(id, untold)).toMatchObject({ state: 'inFlight', attempt: 1 });
});

test('RO-30 an abort always ends, even while a VM is on hold', async () => {
  const vms = await stage.givenFleet(4);
  const id = await stage.givenRollout(vms, { rings: [{ size: 4, inFlight: { count: 3 } }] });
  await stage.pass(1);
  const [told, untold, held] = (await stage.steps(id)).map(
    ({ vmId }) => vms.find((vm) => vm.vmId === vmId) as GivenVm,
  ) as [GivenVm, GivenVm, GivenVm];
  await told.deliver(stage.at(2));
  await held.deliver(stage.at(2));
  await holdVm(stage.as(3), { vmId: held.vmId, reason: 'maintenance' });
  await abortRollout(stage.as(4), { id });
  await stage.look(4);
  expect(await stage.rollout(id)).toMatchObject({ state: 'aborting' });
  await stage.report(told, 5);
  await stage.look(6);
  await stage.look(7);
  expect(await stage.rollout(id)).toMatchObject({ state: 'aborted' });
  expect(await stage.counts(id)).toEqual({ members: 4, succeeded: 1, unreached: 3 });
  expect(await stage.step(id, untold)).toMatchObject({ state: 'unreached' });
});

test('RO-31 a revert gives each VM its own earlier declaration back', async () => {
  const [vm, changed] = (await stage.givenFleet(2)) as [GivenVm, GivenVm];
  const of = await stage.givenRollout([vm, changed]);
  await stage.pass(1);
  await stage.succeed(vm, 10);
  await stage.succeed(changed, 10);
  await stage.look(11);
  await changed.declare('probe', { version: '1.2.0.0' });
  const id = await stage.givenRollout([vm, changed], { kind: 'revert', planned: 'revert', of });
  await stage.look(20);
  expect(await stage.step(id, vm)).toMatchObject({ state: 'inFlight', touched: [{ version: '1.0.0.0' }] });
  expect(await stage.step(id, changed)).toMatchObject({ state: 'overtaken', overtakenBy: { by: 'Test operator' } });
  await stage.succeed(vm, 30, { version: '1.0.0.0', sequenceNumber: 3 });
  await stage.look(31);
  expect(await stage.rollout(id)).toMatchObject({ state: 'finished' });
});

test('RO-31 a revert takes over the open steps of the rollout that it reverts', async () => {
  const [vm] = (await stage.givenFleet(1)) as [GivenVm];
  const of = await stage.givenRollout([vm], { rings: [{ size: 1, soakSeconds: 300 }] });
  await stage.pass(1);
  await vm.deliver(stage.at(5));
  await stage.look(6);
  await abortRollout(stage.as(7), { id: of });
  const id = await stage.givenRollout([vm], { name: 'back', kind: 'revert', planned: 'revert', of });
  await stage.look(8);
  expect(await stage.step(id, vm)).toMatchObject({ state: 'inFlight', touched: [{ version: '1.0.0.0' }] });
  expect(await stage.step(of, vm)).toMatchObject({ state: 'overtaken', overtakenBy: { by: 'back' } });
  await stage.look(9);
  expect(await stage.rollout(of)).toMatchObject({ state: 'aborted' });
  expect(await stage.counts(of)).toEqual({ members: 1, overtaken: 1 });
});

test('RO-32 a failed VM is reverted immediately where the plan says so', async () => {
  const [vm] = (await stage.givenFleet(1)) as [GivenVm];
  const id = await stage.givenRollout([vm], { onStepFailure: 'revert' });
  await stage.pass(1);
  await stage.fail(vm, 10);
  await stage.look(11);
  expect(await stage.step(id, vm)).toMatchObject({ state: 'reverting', cause: 'status' });
  expect(JSON.parse((await stage.head(vm)).text).extensions).toMatchObject([{ version: '1.0.0.0', sequenceNumber: 3 }]);
  await stage.succeed(vm, 20, { version: '1.0.0.0', sequenceNumber: 3 });
  await stage.look(21);
  expect(await stage.step(id, vm)).toMatchObject({ state: 'reverted', cause: 'status' });
  expect(await stage.counts(id)).toEqual({ members: 1, reverted: 1 });
});

test('RO-32 a halted rollout aborts and starts its revert where the plan says so', async () => {
  const [vm] = (await stage.givenFleet(1)) as [GivenVm];
  const id = await stage.givenRollout([vm], { onHalt: 'revert', rings: [{ size: 1, errors: { count: 1 } }] });
  await stage.pass(1);
  await stage.fail(vm, 10);
  await stage.look(11);
  const { revertedBy } = await stage.rollout(id);
  await stage.look(12);
  expect(await stage.rollout(id)).toMatchObject({ state: 'aborted' });
  expect(await stage.rollout(String(revertedBy))).toMatchObject({ kind: 'revert', of: id, state: 'planning' });
});
