import { beforeEach, expect, test } from 'vitest';
import { laneTimes, rolloutSteps, rollouts } from '#db/schema/index.ts';
import { markAged } from '#server/domain/health/index.ts';
import { holdVm, releaseHold } from '#server/domain/holds/index.ts';
import { type GivenVm, givenVm } from '#server/testing/fleet.ts';
import { type RolloutStage, rolloutStage } from '../testing/rollout-stage.ts';
import { hintRollouts } from './due.ts';
import { passRollout } from './pass-rollout.ts';

let stage: RolloutStage;

beforeEach(async () => {
  stage = await rolloutStage();
});

/** Lets the agent of a VM be silent until it calls again. */
async function silence(vm: GivenVm, seconds: number): Promise<void> {
  await stage.hear(vm, seconds - 3_600, 60);
  await markAged(stage.services, { since: null, now: stage.at(seconds), among: [vm.vmId] });
  await stage.fold(seconds);
}

async function hearAgain(vm: GivenVm, seconds: number): Promise<void> {
  await stage.hear(vm, seconds);
  await stage.fold(seconds);
  await hintRollouts(stage.services, [vm.vmId], stage.at(seconds));
  await stage.pass(seconds);
}

test('RO-16 a VM that was never enrolled is parked, and begins when it is', async () => {
  const [here] = (await stage.givenFleet(1)) as [GivenVm];
  const fresh = await givenVm(stage.services, 'fresh');
  await fresh.declare('probe');
  await stage.fold(0);
  const id = await stage.givenRollout([here, fresh]);
  await stage.pass(1);
  expect(await stage.step(id, fresh)).toMatchObject({ state: 'parked', cause: 'never-enrolled', attempt: 0 });
  expect(await stage.published(id, fresh)).toEqual([]);
  await stage.succeed(here, 10);
  await stage.look(11);
  expect(await stage.rollout(id)).toMatchObject({ state: 'keeping' });
  await hearAgain(fresh, 20);
  expect(await stage.step(id, fresh)).toMatchObject({ state: 'inFlight', attempt: 1 });
  await stage.succeed(fresh, 30);
  await stage.look(31);
  expect(await stage.rollout(id)).toMatchObject({ state: 'finished' });
  expect(await stage.counts(id)).toEqual({ members: 2, succeeded: 2 });
});

test('RO-16 with `declare`, a silent VM is published, parked without a recall, and judged when it fetched', async () => {
  const [silent] = (await stage.givenFleet(1)) as [GivenVm];
  await silence(silent, 0);
  const id = await stage.givenRollout([silent], { silent: 'declare' });
  await stage.pass(1);
  expect(await stage.step(id, silent)).toMatchObject({ state: 'inFlight' });
  await stage.look(302);
  expect(await stage.step(id, silent)).toMatchObject({ state: 'parked', cause: 'not-fetching', incarnation: 3 });
  expect(await stage.published(id, silent)).toHaveLength(1);
  expect((await stage.rollout(id)).why).toMatchObject([{ code: 'nobody_reached', params: { parked: 1 } }]);
  await stage.hear(silent, 5_000);
  await stage.succeed(silent, 5_001);
  await stage.look(5_002);
  expect(await stage.step(id, silent)).toMatchObject({ state: 'succeeded', attempt: 1 });
  expect(await stage.rollout(id)).toMatchObject({ state: 'finished' });
});

test('RO-16 with `skip`, a silent VM is left for good', async () => {
  const [here, silent] = (await stage.givenFleet(2)) as [GivenVm, GivenVm];
  await silence(silent, 0);
  const id = await stage.givenRollout([here, silent], { silent: 'skip' });
  await stage.pass(1);
  expect(await stage.step(id, silent)).toMatchObject({ state: 'unreached', cause: 'silent' });
  await hearAgain(silent, 5);
  expect(await stage.published(id, silent)).toEqual([]);
  await stage.succeed(here, 10);
  await stage.look(11);
  expect(await stage.rollout(id)).toMatchObject({ state: 'finished' });
  expect(await stage.counts(id)).toEqual({ members: 2, succeeded: 1, unreached: 1 });
});

test('RO-16 parked VMs are in no denominator: the ring passes, and the next one opens', async () => {
  const vms = await stage.givenFleet(4);
  for (const vm of vms) await silence(vm, 0);
  const success = { share: 10_000, atLeast: 1 };
  const id = await stage.givenRollout(vms, {
    rings: [
      { size: 2, success },
      { size: 2, success },
    ],
  });
  await stage.pass(1);
  // Nothing is known about a ring in which no VM is reached.
  expect(await stage.counts(id)).toEqual({ members: 4, parked: 2, queued: 2 });
  expect((await stage.rollout(id)).why).toMatchObject([{ code: 'nobody_reached', ring: 0, params: { parked: 2 } }]);
  const [first] = (await stage.vmsIn(id, vms, 'parked')) as [GivenVm, GivenVm];
  await hearAgain(first, 10);
  await stage.succeed(first, 20);
  await stage.look(21);
  expect((await stage.rings(id)).map(({ state }) => state)).toEqual(['passed', 'open']);
  expect(await stage.counts(id)).toEqual({ members: 4, succeeded: 1, parked: 3 });
});

test('RO-18 a VM that did not fetch is parked and begins again when its agent calls', async () => {
  const [vm] = (await stage.givenFleet(1)) as [GivenVm];
  const id = await stage.givenRollout([vm]);
  await stage.pass(1);
  expect(await stage.step(id, vm)).toMatchObject({ dueAt: stage.at(301) });
  await silence(vm, 300);
  await stage.pass(302);
  await stage.pass(303);
  const parked = await stage.step(id, vm);
  expect(parked).toMatchObject({ state: 'parked', attempt: 0, touched: [], dueAt: null });
  await hearAgain(vm, 400);
  expect(await stage.step(id, vm)).toMatchObject({ state: 'inFlight', attempt: 1, touched: [{ sequenceNumber: 4 }] });
  await stage.succeed(vm, 410, { sequenceNumber: 4 });
  await stage.look(411);
  expect(await stage.counts(id)).toEqual({ members: 1, succeeded: 1 });
});

test('RO-18 a VM that turns silent after the delivery has failed', async () => {
  const [early, soaking] = (await stage.givenFleet(2)) as [GivenVm, GivenVm];
  const id = await stage.givenRollout([early, soaking], { rings: [{ size: 2, soakSeconds: 300 }] });
  await stage.pass(1);
  await early.deliver(stage.at(2));
  await stage.succeed(soaking, 5);
  await stage.look(6);
  expect(await stage.counts(id)).toEqual({ members: 2, inFlight: 1, soaking: 1 });
  for (const vm of [early, soaking]) await silence(vm, 200);
  await stage.look(201);
  await stage.look(1_900);
  expect(await stage.step(id, early)).toMatchObject({ state: 'failed', cause: 'silent' });
  expect(await stage.step(id, soaking)).toMatchObject({ state: 'failed', cause: 'silent' });
});

test('a VM that is put on hold before it fetched is taken back and parked', async () => {
  const [vm] = (await stage.givenFleet(1)) as [GivenVm];
  const id = await stage.givenRollout([vm]);
  await stage.pass(1);
  await holdVm(stage.as(2), { vmId: vm.vmId, reason: 'maintenance' });
  await stage.look(3);
  expect(await stage.step(id, vm)).toMatchObject({ state: 'parked', cause: 'on-hold' });
  expect((await stage.published(id, vm)).map(({ cause }) => cause.action)).toEqual(['rollout.step', 'rollout.recall']);
  await releaseHold(stage.as(400), { vmId: vm.vmId });
  await hintRollouts(stage.services, [vm.vmId], stage.at(401));
  await stage.pass(401);
  expect(await stage.step(id, vm)).toMatchObject({ state: 'inFlight' });
});

/** Lets the worker look whenever the step is due, until it is decided. Returns when that was. */
async function decidedAt(id: string, vm: GivenVm): Promise<number> {
  for (let n = 0; n < 50; n += 1) {
    const { decidedAt, dueAt } = (await stage.step(id, vm)) ?? {};
    const time = decidedAt ?? dueAt ?? stage.at(0);
    const seconds = (time.getTime() - stage.at(0).getTime()) / 1_000;
    if (decidedAt) return seconds;
    await stage.look(seconds);
  }
  throw new Error('the step is not decided');
}

test('RO-19 while a delivered VM is on hold, its clock is paused and it holds no place in flight', async () => {
  const vms = await stage.givenFleet(2);
  const id = await stage.givenRollout(vms, { rings: [{ size: 2, inFlight: { count: 1 }, settleSeconds: 30 }] });
  await stage.pass(1);
  const [held] = (await stage.vmsIn(id, vms, 'inFlight')) as [GivenVm];
  await held.deliver(stage.at(2));
  await stage.fold(3);
  await stage.look(3);
  expect(await stage.counts(id)).toEqual({ members: 2, inFlight: 1, queued: 1 });
  await holdVm(stage.as(4), { vmId: held.vmId, reason: 'maintenance' });
  await stage.fold(5);
  await stage.look(5);
  const idle = (await stage.vmsIn(id, vms, 'inFlight')).find((vm) => vm !== held) as GivenVm;
  await idle.deliver(stage.at(6));
  await stage.fold(7);
  await stage.look(8);
  const usual = (await decidedAt(id, idle)) - 6;
  await stage.look(10_000);
  expect(await stage.step(id, held)).toMatchObject({ state: 'inFlight', dueAt: stage.at(10_060) });
  await releaseHold(stage.as(10_004), { vmId: held.vmId });
  await stage.fold(10_005);
  expect(await decidedAt(id, held)).toBe(2 + usual + 10_000);
  expect(await stage.step(id, held)).toMatchObject({ state: 'failed', cause: 'not-healthy' });
});

test('RO-19 while other work has the lane of a VM, its clock is paused', async () => {
  const [busy, idle] = (await stage.givenFleet(2)) as [GivenVm, GivenVm];
  const id = await stage.givenRollout([busy, idle], { rings: [{ size: 2, settleSeconds: 30 }] });
  await stage.pass(1);
  for (const vm of [busy, idle]) await vm.deliver(stage.at(2));
  await stage.fold(3);
  await stage.db.insert(laneTimes).values({ vmId: busy.vmId, takenAt: stage.at(3) });
  await stage.look(4);
  const usual = await decidedAt(id, idle);
  expect(await stage.step(id, idle)).toMatchObject({ state: 'failed', cause: 'not-healthy' });
  expect(await stage.step(id, busy)).toMatchObject({ state: 'inFlight' });
  const past: [string, string][] = [[stage.at(3).toISOString(), stage.at(usual + 3).toISOString()]];
  await stage.db.update(laneTimes).set({ takenAt: null, past });
  await stage.look(2 * usual - 1);
  expect(await stage.step(id, busy)).toMatchObject({ state: 'inFlight' });
  await stage.look(2 * usual);
  expect(await stage.step(id, busy)).toMatchObject({ state: 'failed', cause: 'not-healthy' });
});

test('RO-16 parked members beyond those that one pass looks at come round', async () => {
  const vms = await stage.givenFleet(5);
  for (const vm of vms) await silence(vm, 0);
  const id = await stage.givenRollout(vms);
  await stage.pass(1);
  expect(await stage.counts(id)).toEqual({ members: 5, parked: 5 });
  const ordered = await stage.steps(id);
  const last = vms.find(({ vmId }) => vmId === ordered.at(-1)?.vmId) as GivenVm;
  await stage.hear(last, 2);
  await stage.fold(2);
  // The portal's clock was set back.
  await stage.db.update(rolloutSteps).set({ updatedAt: stage.at(9_000) });
  const look = async (seconds: number, vm: GivenVm) => {
    await stage.db.update(rollouts).set({ dueAt: stage.at(seconds) });
    await passRollout(stage.services, stage.at(seconds), { parkedAtOnce: 2 });
    return (await stage.step(id, vm))?.state;
  };
  expect([await look(70, last), await look(71, last), await look(72, last)]).toEqual(['parked', 'parked', 'inFlight']);
  const third = vms.find(({ vmId }) => vmId === ordered[2]?.vmId) as GivenVm;
  await stage.hear(third, 73);
  await stage.fold(73);
  expect([await look(80, third), await look(140, third), await look(141, third)]).toEqual([
    'parked',
    'parked',
    'inFlight',
  ]);
});
