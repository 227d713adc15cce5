import { createHash } from 'node:crypto';
import { beforeEach, expect, test } from 'vitest';
import type { GivenVm } from '#server/testing/fleet.ts';
import { longTest } from '#server/testing/long.ts';
import { type RolloutStage, rolloutStage } from '../testing/rollout-stage.ts';
import { passRollout } from './pass-rollout.ts';

let stage: RolloutStage;

beforeEach(async () => {
  stage = await rolloutStage();
});

/** Lets everything that is in flight succeed, and the worker look. Returns how many VMs that were. */
async function succeedAll(id: string, vms: readonly GivenVm[], seconds: number): Promise<number> {
  const open = await stage.vmsIn(id, vms, 'inFlight');
  for (const vm of open) await stage.succeed(vm, seconds);
  await stage.look(seconds + 1);
  return open.length;
}

longTest('RO-11 a ramp begins 1, 2, 4 and 8 VMs', async () => {
  const vms = await stage.givenFleet(16);
  const id = await stage.givenRollout(vms, { rings: [{ size: 16, ramp: true }] });
  await stage.pass(1);
  const sizes: number[] = [];
  for (const seconds of [10, 20, 30, 40, 50]) sizes.push(await succeedAll(id, vms, seconds));
  expect(sizes).toEqual([1, 2, 4, 8, 1]);
  expect(await stage.rollout(id)).toMatchObject({ state: 'finished' });
});

longTest('RO-11 with a ramp, a failure makes no room, and the rollout says what it waits for', async () => {
  const vms = await stage.givenFleet(4);
  const id = await stage.givenRollout(vms, { rings: [{ size: 4, ramp: true }] });
  await stage.pass(1);
  await succeedAll(id, vms, 10);
  const [bad] = (await stage.vmsIn(id, vms, 'inFlight')) as [GivenVm, GivenVm];
  await stage.fail(bad, 20);
  await stage.look(21);
  expect(await stage.counts(id)).toEqual({ members: 4, succeeded: 1, failed: 1, inFlight: 2 });
  const later = await stage.givenRollout([bad], { change: { version: '1.2.0.0' } });
  await stage.look(22);
  expect(await stage.counts(later)).toEqual({ members: 1, inFlight: 1 });
});

test('RO-11 a share of a ring is rounded down, and is one VM at least', async () => {
  const vms = await stage.givenFleet(7);
  const some = await stage.givenRollout(vms.slice(0, 5), { rings: [{ size: 5, inFlight: { share: 5_000 } }] });
  const few = await stage.givenRollout(vms.slice(5), { rings: [{ size: 2, inFlight: { share: 100 } }] });
  await stage.pass(1);
  await stage.pass(5);
  await stage.pass(10);
  expect(await stage.counts(some)).toEqual({ members: 5, inFlight: 2, queued: 3 });
  expect(await stage.counts(few)).toEqual({ members: 2, inFlight: 1, queued: 1 });
  expect((await stage.rollout(few)).why[0]).toMatchObject({
    code: 'in_flight_full',
    ring: 0,
    params: { inFlight: 1, limit: 1 },
  });
});

test('RO-11 soaking and failed VMs hold no place in flight', async () => {
  const vms = await stage.givenFleet(3);
  const id = await stage.givenRollout(vms, { rings: [{ size: 3, inFlight: { count: 1 }, soakSeconds: 300 }] });
  await stage.pass(1);
  const [first] = (await stage.vmsIn(id, vms, 'inFlight')) as [GivenVm];
  await stage.succeed(first, 10);
  await stage.look(11);
  expect(await stage.counts(id)).toEqual({ members: 3, soaking: 1, inFlight: 1, queued: 1 });
  const [second] = (await stage.vmsIn(id, vms, 'inFlight')) as [GivenVm];
  await stage.fail(second, 20);
  await stage.look(21);
  expect(await stage.counts(id)).toEqual({ members: 3, soaking: 1, failed: 1, inFlight: 1 });
});

test('RO-11 all rollouts together have at most as many steps in flight as the portal allows', async () => {
  const vms = await stage.givenFleet(6);
  await stage.setRules(0, { inFlight: 3 });
  const first = await stage.givenRollout(vms.slice(0, 2));
  await stage.pass(1);
  const second = await stage.givenRollout(vms.slice(2));
  await stage.pass(2);
  await stage.pass(5);
  expect(await stage.counts(first)).toEqual({ members: 2, inFlight: 2 });
  expect(await stage.counts(second)).toEqual({ members: 4, inFlight: 1, queued: 3 });
  expect((await stage.rollout(second)).why[0]).toMatchObject({
    code: 'in_flight_full',
    params: { inFlight: 3, limit: 3 },
  });
  await succeedAll(first, vms, 10);
  await stage.pass(12);
  expect(await stage.counts(second)).toEqual({ members: 4, inFlight: 3, queued: 1 });
  await stage.setRules(20, { inFlight: 4 });
  await stage.pass(21);
  expect(await stage.counts(second)).toEqual({ members: 4, inFlight: 4 });
});

test('RO-12 open rollouts share the rate of the portal in turn', async () => {
  const vms = await stage.givenFleet(6);
  await stage.setRules(0, { stepsPerSecond: 1 });
  const ids: string[] = [];
  for (const from of [0, 2, 4]) ids.push(await stage.givenRollout(vms.slice(from, from + 2)));
  const begun = () => Promise.all(ids.map(async (id) => (await stage.steps(id)).length));
  const totals: number[] = [];
  for (let second = 1; second <= 6; second += 1) {
    // Every look of a worker is a little later than the one before.
    for (let n = 0; n < 50; n += 1)
      if ((await passRollout(stage.services, stage.at(second + n / 1_000))) === null) break;
    totals.push((await begun()).reduce((sum, count) => sum + count, 0));
    if (second === 3) expect(await begun()).toEqual([1, 1, 1]);
  }
  expect(totals).toEqual([1, 2, 3, 4, 5, 6]);
  expect(await begun()).toEqual([2, 2, 2]);
});

test('RO-12 a rollout that the rate holds back says until when', async () => {
  const vms = await stage.givenFleet(3);
  const id = await stage.givenRollout(vms, { stepsPerSecond: 1 });
  await stage.pass(1);
  expect(await stage.rollout(id)).toMatchObject({
    state: 'running',
    why: [{ code: 'rate', at: stage.at(2).toISOString() }, { code: 'steps_open' }],
    next: { code: 'rate' },
    dueAt: stage.at(2),
  });
  // A clock that was set back begins nothing twice.
  await stage.look(0.5);
  expect(await stage.counts(id)).toEqual({ members: 3, inFlight: 1, queued: 2 });
});

test('RO-7 within a ring, members begin by rising MD5, ring by ring', async () => {
  const vms = await stage.givenFleet(5);
  const id = await stage.givenRollout(vms, { rings: [{ size: 2 }, { size: 3, inFlight: { count: 1 } }] });
  const order: string[] = [];
  for (let second = 1; second <= 50; second += 10) {
    await stage.look(second);
    for (const vm of await stage.vmsIn(id, vms, 'inFlight')) {
      order.push(`${(await stage.step(id, vm))?.ring}`, vm.vmId);
      await stage.succeed(vm, second + 1);
    }
  }
  await stage.look(60);
  const keyOf = (vmId: string) => createHash('md5').update(`${id}/${vmId}`).digest('hex');
  const sorted = vms.map(({ vmId }) => vmId).sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  expect(order).toEqual(sorted.flatMap((vmId, place) => [place < 2 ? '0' : '1', vmId]));
  expect(await stage.rollout(id)).toMatchObject({ state: 'finished' });
});
