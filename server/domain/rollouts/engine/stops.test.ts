import { beforeEach, describe, expect, test } from 'vitest';
import { markAged } from '#server/domain/health/index.ts';
import { holdVm, releaseHold } from '#server/domain/holds/index.ts';
import type { GivenVm } from '#server/testing/fleet.ts';
import { abortRollout } from '../abort-rollout.ts';
import { pauseRollout } from '../pause-rollout.ts';
import { resumeRollout } from '../resume-rollout.ts';
import { type RolloutStage, rolloutStage } from '../testing/rollout-stage.ts';

let stage: RolloutStage;

beforeEach(async () => {
  stage = await rolloutStage();
});

const declared = async (vm: GivenVm) => JSON.parse((await stage.head(vm)).text).extensions;

describe('RO-28 a pause', () => {
  test('takes back only the extension of the step, and keeps what a person changed meanwhile', async () => {
    const [vm] = (await stage.givenFleet(1)) as [GivenVm];
    await vm.declare('other', { handler: 'Acme.Lab.Other' });
    const id = await stage.givenRollout([vm]);
    await stage.pass(1);
    await vm.declare('other', { handler: 'Acme.Lab.Other', version: '1.1.0.0' });
    await pauseRollout(stage.as(3), { id });
    await stage.pass(3);
    expect(await declared(vm)).toMatchObject([
      { name: 'other', version: '1.1.0.0', sequenceNumber: 2 },
      { name: 'probe', version: '1.0.0.0', sequenceNumber: 3 },
    ]);
    expect(await stage.step(id, vm)).toMatchObject({ state: 'recalled', attempt: 0, incarnation: null, dueAt: null });
  });

  test('lets delivered VMs soak to their end, and counts them', async () => {
    const [good, bad] = (await stage.givenFleet(2)) as [GivenVm, GivenVm];
    const id = await stage.givenRollout([good, bad], { rings: [{ size: 2, soakSeconds: 300 }] });
    await stage.pass(1);
    await stage.succeed(good, 10);
    await bad.deliver(stage.at(10));
    await pauseRollout(stage.as(11), { id });
    await stage.look(11);
    expect(await stage.counts(id)).toEqual({ members: 2, soaking: 1, inFlight: 1 });
    await stage.report(bad, 20, { status: 'error' });
    await stage.look(21);
    await stage.pass(320);
    expect(await stage.rollout(id)).toMatchObject({ state: 'paused', why: [{ code: 'person' }] });
    expect(await stage.counts(id)).toEqual({ members: 2, succeeded: 1, failed: 1 });
    await resumeRollout(stage.as(330), { id });
    await stage.pass(330);
    expect(await stage.rollout(id)).toMatchObject({ state: 'finished' });
  });

  test('of a rollout whose gate then halts adds the reason of the gate', async () => {
    const [vm] = (await stage.givenFleet(1)) as [GivenVm];
    const id = await stage.givenRollout([vm], { rings: [{ size: 1, errors: { count: 1 } }] });
    await stage.pass(1);
    await vm.deliver(stage.at(2));
    await pauseRollout(stage.as(3), { id });
    await stage.report(vm, 10, { status: 'error' });
    await stage.look(11);
    await stage.look(12);
    const { why, pausedBy } = await stage.rollout(id);
    expect([pausedBy, ...why.map(({ code }) => code)]).toEqual(['gate', 'person', 'errors_count']);
    expect(await stage.activity(id, 'rollout.halt')).toHaveLength(1);
  });
});

test('RO-7 after a resume, recalled members begin before members that were never taken', async () => {
  const vms = await stage.givenFleet(5);
  const id = await stage.givenRollout(vms, { rings: [{ size: 5, inFlight: { count: 2 } }] });
  await stage.pass(1);
  const first = await stage.vmsIn(id, vms, 'inFlight');
  await pauseRollout(stage.as(2), { id });
  await stage.pass(2);
  expect(await stage.vmsIn(id, vms, 'recalled')).toEqual(first);
  expect(await stage.counts(id)).toEqual({ members: 5, queued: 5 });
  await resumeRollout(stage.as(3), { id });
  await stage.pass(3);
  expect(await stage.vmsIn(id, vms, 'inFlight')).toEqual(first);
  for (const vm of first) {
    await stage.succeed(vm, 10, { sequenceNumber: 4 });
    expect((await stage.published(id, vm)).map(({ cause }) => cause.action)).toEqual([
      'rollout.step',
      'rollout.recall',
      'rollout.step',
    ]);
  }
  await stage.look(11);
  expect(await stage.counts(id)).toEqual({ members: 5, succeeded: 2, inFlight: 2, queued: 1 });
});

test('RO-7 parked members whose obstacle is gone begin before the next ones in order', async () => {
  const vms = await stage.givenFleet(3);
  for (const vm of vms.slice(0, 1)) await holdVm(stage.as(0), { vmId: vm.vmId, reason: 'maintenance' });
  const [held] = vms as [GivenVm];
  const id = await stage.givenRollout(vms, { rings: [{ size: 3, inFlight: { count: 1 } }] });
  const done: GivenVm[] = [];
  for (let second = 1; (await stage.step(id, held))?.state !== 'parked'; second += 10) {
    await stage.look(second);
    for (const vm of await stage.vmsIn(id, vms, 'inFlight')) {
      if ((await stage.step(id, held))?.state === 'parked') break;
      await stage.succeed(vm, second + 1);
      done.push(vm);
    }
  }
  expect(await stage.step(id, held)).toMatchObject({ state: 'parked', cause: 'on-hold' });
  await releaseHold(stage.as(100), { vmId: held.vmId });
  for (const vm of await stage.vmsIn(id, vms, 'inFlight')) await stage.succeed(vm, 101);
  await stage.look(102);
  expect(await stage.step(id, held)).toMatchObject({ state: 'inFlight' });
});

describe('RO-30 an abort', () => {
  test('ends a running rollout whose VMs are silent, on hold, or soaking', async () => {
    const vms = await stage.givenFleet(5);
    const id = await stage.givenRollout(vms, { rings: [{ size: 5, inFlight: { count: 4 }, soakSeconds: 86_400 }] });
    await stage.pass(1);
    const [soaking, silent, held, untold] = (await stage.vmsIn(id, vms, 'inFlight')) as [
      GivenVm,
      GivenVm,
      GivenVm,
      GivenVm,
    ];
    await stage.succeed(soaking, 5);
    for (const vm of [silent, held]) await vm.deliver(stage.at(5));
    await stage.look(6);
    await holdVm(stage.as(7), { vmId: held.vmId, reason: 'maintenance' });
    await abortRollout(stage.as(10), { id });
    await stage.look(10);
    // The soak is dropped, and nothing waits for the VM on hold.
    expect(await stage.step(id, soaking)).toMatchObject({ state: 'succeeded' });
    expect(await stage.step(id, held)).toMatchObject({ state: 'unreached', cause: 'on-hold' });
    expect(await declared(untold)).toMatchObject([{ version: '1.0.0.0' }]);
    expect(await stage.rollout(id)).toMatchObject({
      state: 'aborting',
      why: [{ code: 'steps_open', params: { open: 1 } }],
    });
    await stage.hear(silent, -3_600, 60);
    await markAged(stage.services, { since: null, now: stage.at(20), among: [silent.vmId] });
    await stage.fold(20);
    await stage.look(1_300);
    await stage.look(1_301);
    expect(await stage.step(id, silent)).toMatchObject({ state: 'failed', cause: 'silent' });
    expect(await stage.rollout(id)).toMatchObject({ state: 'aborted', endedAt: stage.at(1_300) });
    expect(await stage.counts(id)).toEqual({ members: 5, succeeded: 1, failed: 1, unreached: 3 });
    expect(await stage.activity(id, 'rollout.finish')).toMatchObject([{ details: { state: 'aborted' } }]);
  });

  test('ends a paused rollout at once when nothing is open', async () => {
    const vms = await stage.givenFleet(3);
    const id = await stage.givenRollout(vms, { rings: [{ size: 2 }, { size: 1 }] });
    await stage.pass(1);
    await pauseRollout(stage.as(2), { id });
    await stage.pass(2);
    await abortRollout(stage.as(3), { id });
    await stage.pass(3);
    expect(await stage.rollout(id)).toMatchObject({ state: 'aborted', pausedBy: null, endedAt: stage.at(3) });
    expect(await stage.counts(id)).toEqual({ members: 3, unreached: 3 });
    expect((await stage.steps(id)).map(({ state }) => state)).toEqual(['unreached', 'unreached']);
  });

  test('begins no attempt and puts no failed VM back', async () => {
    const [waits, fails] = (await stage.givenFleet(2)) as [GivenVm, GivenVm];
    const id = await stage.givenRollout([waits, fails], {
      onStepFailure: 'revert',
      retry: { times: 1, afterSeconds: 60, causes: ['status'] },
    });
    await stage.pass(1);
    await stage.fail(waits, 10);
    await fails.deliver(stage.at(10));
    await stage.look(11);
    await abortRollout(stage.as(12), { id });
    await stage.report(fails, 13, { status: 'error' });
    await stage.look(14);
    await stage.look(15);
    expect(await stage.counts(id)).toEqual({ members: 2, failed: 2 });
    for (const vm of [waits, fails]) expect(await stage.published(id, vm)).toHaveLength(1);
    expect(await stage.rollout(id)).toMatchObject({ state: 'aborted' });
  });

  test('of a rollout that keeps for parked VMs leaves them unreached', async () => {
    const [here, held] = (await stage.givenFleet(2)) as [GivenVm, GivenVm];
    await holdVm(stage.as(0), { vmId: held.vmId, reason: 'maintenance' });
    const id = await stage.givenRollout([here, held]);
    await stage.pass(1);
    await stage.succeed(here, 10);
    await stage.look(11);
    expect(await stage.rollout(id)).toMatchObject({ state: 'keeping' });
    await abortRollout(stage.as(12), { id });
    await stage.pass(12);
    expect(await stage.rollout(id)).toMatchObject({ state: 'aborted' });
    expect(await stage.step(id, held)).toMatchObject({ state: 'unreached', cause: 'on-hold' });
  });
});

test('a rollout that keeps finishes after its days, and a last ring that reached nobody waits', async () => {
  const [one, two] = (await stage.givenFleet(2)) as [GivenVm, GivenVm];
  for (const vm of [one, two]) await holdVm(stage.as(0), { vmId: vm.vmId, reason: 'maintenance' });
  const success = { share: 10_000, atLeast: 1 };
  const unreached = await stage.givenRollout([one], { rings: [{ size: 0, success }, { size: 1 }] });
  const [here] = (await stage.givenFleet(1)) as [GivenVm];
  const kept = await stage.givenRollout([two, here], { keepDays: 1 });
  await stage.pass(1);
  await stage.succeed(here, 10);
  await stage.look(11);
  expect(await stage.rollout(kept)).toMatchObject({
    state: 'keeping',
    why: [{ code: 'vms_parked', params: { parked: 1 }, at: stage.at(11 + 86_400).toISOString() }],
  });
  expect((await stage.rollout(unreached)).why).toMatchObject([{ code: 'nobody_reached', ring: 1 }]);
  await stage.look(86_400);
  expect(await stage.rollout(kept)).toMatchObject({ state: 'keeping' });
  await stage.look(86_412);
  expect(await stage.rollout(kept)).toMatchObject({ state: 'finished' });
  expect(await stage.counts(kept)).toEqual({ members: 2, succeeded: 1, unreached: 1 });
  expect(await stage.rollout(unreached)).toMatchObject({ state: 'paused', why: [{ code: 'no_progress' }] });
});
