import { beforeEach, expect, test } from 'vitest';
import { markAged } from '#server/domain/health/index.ts';
import { holdVm } from '#server/domain/holds/index.ts';
import type { GivenVm } from '#server/testing/fleet.ts';
import { type RolloutStage, rolloutStage } from '../testing/rollout-stage.ts';
import { hintRollouts } from './due.ts';

let stage: RolloutStage;

beforeEach(async () => {
  stage = await rolloutStage();
});

test('RO-11 a ring has at most as many steps in flight as it allows; with a ramp, one more than were seen healthy', async () => {
  const vms = await stage.givenFleet(6);
  const id = await stage.givenRollout(vms, { rings: [{ size: 6, inFlight: { count: 2 }, ramp: true }] });
  const open = async () => (await stage.steps(id)).filter(({ state }) => state === 'inFlight');
  const succeedAll = async (seconds: number) => {
    for (const { vmId } of await open()) await stage.succeed(vms.find((vm) => vm.vmId === vmId) as GivenVm, seconds);
    await stage.look(seconds + 1);
    await stage.pass(seconds + 2);
  };
  await stage.pass(1);
  await stage.pass(2);
  expect(await open()).toHaveLength(1);
  expect((await stage.rollout(id)).why).toMatchObject([{ code: 'ramp', params: { limit: 1 } }, { code: 'steps_open' }]);
  await succeedAll(10);
  expect(await open()).toHaveLength(2);
  await succeedAll(20);
  expect(await open()).toHaveLength(2);
  await succeedAll(30);
  await succeedAll(40);
  expect(await stage.rollout(id)).toMatchObject({ state: 'finished' });
});

test('RO-12 steps begin at the rate, and an outage causes no burst', async () => {
  const vms = await stage.givenFleet(6);
  const id = await stage.givenRollout(vms, { stepsPerSecond: 2 });
  await stage.pass(1);
  expect(await stage.counts(id)).toEqual({ members: 6, inFlight: 2, queued: 4 });
  await stage.pass(1.5);
  expect(await stage.counts(id)).toEqual({ members: 6, inFlight: 2, queued: 4 });
  await stage.pass(100);
  expect(await stage.counts(id)).toEqual({ members: 6, inFlight: 4, queued: 2 });
});

test('RO-13 a VM has one open step across all rollouts', async () => {
  const [vm] = (await stage.givenFleet(1)) as [GivenVm];
  const first = await stage.givenRollout([vm]);
  await stage.pass(1);
  const second = await stage.givenRollout([vm], { change: { version: '1.2.0.0' } });
  await stage.pass(2);
  expect(await stage.step(second, vm)).toMatchObject({ state: 'parked', cause: 'vm-busy' });
  expect((await stage.rollout(second)).why).toMatchObject([{ code: 'vms_busy' }]);
  await stage.succeed(vm, 10);
  await stage.look(11);
  await stage.look(12);
  expect(await stage.counts(first)).toEqual({ members: 1, succeeded: 1 });
  expect(await stage.step(second, vm)).toMatchObject({ state: 'inFlight' });
});

test('RO-14 members that a later rollout accepted to take over are superseded', async () => {
  const [one, two] = (await stage.givenFleet(2)) as [GivenVm, GivenVm];
  const first = await stage.givenRollout([one, two], { rings: [{ size: 2, inFlight: { count: 1 } }] });
  await stage.pass(1);
  const begun = (await stage.steps(first))[0]?.vmId;
  await stage.givenRollout([one, two], {
    change: { version: '1.2.0.0' },
    acceptedOverlap: [first],
    startedAt: stage.at(2),
  });
  const [running, queued] = one.vmId === begun ? [one, two] : [two, one];
  await stage.succeed(running, 3);
  await stage.look(4);
  await stage.look(5);
  expect(await stage.step(first, running)).toMatchObject({ state: 'succeeded' });
  expect(await stage.step(first, queued)).toMatchObject({ state: 'skipped', cause: 'superseded' });
});

test('RO-15 of an availability set one VM is changed at a time, and a failed VM keeps its set closed', async () => {
  const vms = await stage.givenFleet(3, { tags: { 'availability-set': 'web' } });
  await stage.fold(0);
  const id = await stage.givenRollout(vms);
  const open = async () => (await stage.steps(id)).filter(({ state }) => state === 'inFlight');
  const opened = async () => {
    const [step, ...others] = await open();
    expect(others).toEqual([]);
    return vms.find(({ vmId }) => vmId === step?.vmId) as GivenVm;
  };
  await stage.pass(1);
  const first = await opened();
  expect(await stage.counts(id)).toEqual({ members: 3, inFlight: 1, parked: 2 });
  expect((await stage.rollout(id)).why).toMatchObject([{ code: 'sets_busy', params: { members: 2 } }, {}]);
  await stage.succeed(first, 10);
  await stage.look(11);
  const second = await opened();
  expect(second).not.toBe(first);
  await stage.fail(second, 20);
  await stage.look(21);
  expect(await stage.counts(id)).toEqual({ members: 3, succeeded: 1, failed: 1, parked: 1 });
  await stage.report(second, 30);
  await stage.look(31);
  await stage.succeed(await opened(), 40);
  await stage.look(41);
  expect(await stage.counts(id)).toEqual({ members: 3, succeeded: 2, failed: 1 });
});

test('RO-16 silent and held VMs are parked, hold nothing up, and begin when they are back', async () => {
  const [here, silent, held] = (await stage.givenFleet(3)) as [GivenVm, GivenVm, GivenVm];
  await stage.hear(silent, -3_600, 60);
  await markAged(stage.services, { since: null, now: stage.at(0), among: null });
  await stage.fold(0);
  await holdVm(stage.as(0), { vmId: held.vmId, reason: 'maintenance' });
  const id = await stage.givenRollout([here, silent, held]);
  await stage.pass(1);
  expect(await stage.step(id, silent)).toMatchObject({ state: 'parked', cause: 'silent' });
  expect(await stage.step(id, held)).toMatchObject({ state: 'parked', cause: 'on-hold' });
  await stage.succeed(here, 10);
  await stage.look(11);
  expect(await stage.rollout(id)).toMatchObject({ state: 'keeping', why: [{ code: 'vms_parked' }] });
  await stage.hear(silent, 20);
  await stage.fold(20);
  await hintRollouts(stage.services, [silent.vmId], stage.at(21));
  await stage.pass(21);
  await stage.succeed(silent, 22);
  await stage.look(23);
  expect(await stage.counts(id)).toEqual({ members: 3, succeeded: 2, parked: 1 });
  await stage.look(15 * 86_400);
  expect(await stage.rollout(id)).toMatchObject({ state: 'finished' });
  expect(await stage.counts(id)).toEqual({ members: 3, succeeded: 2, unreached: 1 });
});
