import { beforeEach, expect, test } from 'vitest';
import { rollouts } from '#db/schema/index.ts';
import type { GivenVm } from '#server/testing/fleet.ts';
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

test('RO-17 health of an earlier sequence number counts for nothing', async () => {
  const [vm] = (await stage.givenFleet(1)) as [GivenVm];
  const id = await stage.givenRollout([vm]);
  await stage.pass(1);
  await vm.deliver(stage.at(2));
  await stage.fold(3);
  await stage.look(3);
  expect(await stage.counts(id)).toEqual({ members: 1, inFlight: 1 });
  await stage.report(vm, 4);
  await stage.look(4);
  expect(await stage.counts(id)).toEqual({ members: 1, succeeded: 1 });
});

test('RO-17 a VM succeeds only after it was healthy for the whole soak', async () => {
  const [vm] = (await stage.givenFleet(1)) as [GivenVm];
  const id = await stage.givenRollout([vm], { rings: [{ size: 1, soakSeconds: 300 }] });
  await stage.pass(1);
  await stage.succeed(vm, 10);
  await stage.look(11);
  expect(await stage.counts(id)).toEqual({ members: 1, soaking: 1 });
  await stage.look(300);
  expect(await stage.counts(id)).toEqual({ members: 1, soaking: 1 });
  await stage.pass(312);
  expect(await stage.counts(id)).toEqual({ members: 1, succeeded: 1 });
});

test('RO-18 a VM fails with the cause of its health; a VM that does not fetch is parked and taken back', async () => {
  const [bad, silent] = (await stage.givenFleet(2)) as [GivenVm, GivenVm];
  const id = await stage.givenRollout([bad, silent]);
  await stage.pass(1);
  await stage.fail(bad, 10);
  await stage.look(11);
  expect(await stage.step(id, bad)).toMatchObject({ state: 'failed', cause: 'status' });
  await stage.pass(302);
  expect(await stage.counts(id)).toMatchObject({ failed: 1 });
  // The VM has what it had before, and its turn comes again.
  const [first, back] = await stage.published(id, silent);
  expect([first?.cause.action, back?.cause.action]).toEqual(['rollout.step', 'rollout.recall']);
  expect(back?.contents).toMatchObject([{ version: '1.0.0.0', sequenceNumber: 3 }]);
});

test('RO-6 a member whose change became another one, or is done already, is skipped', async () => {
  const [same, other, done] = (await stage.givenFleet(3)) as [GivenVm, GivenVm, GivenVm];
  const id = await stage.givenRollout([same, other, done]);
  await other.declare('probe', { version: '1.2.0.0' });
  await done.declare('probe', { version: '1.1.0.0' });
  await stage.db.update(rollouts).set({ definition: await lowering(id) });
  await stage.pass(1);
  expect(await stage.step(id, same)).toMatchObject({ state: 'inFlight' });
  expect(await stage.step(id, other)).toMatchObject({ state: 'skipped', cause: 'moved' });
  expect(await stage.step(id, done)).toMatchObject({ state: 'skipped', cause: 'already' });
  expect(await stage.published(id, other)).toEqual([]);
});

async function lowering(id: string) {
  const { definition } = await stage.rollout(id);
  return { ...definition, change: { ...definition.change, allowLower: true } };
}

test('RO-2 a VM that left the selection is skipped at its turn; health does not decide again', async () => {
  const [stays, loses, excluded] = (await stage.givenFleet(3, { tags: { env: 'prod' } })) as [GivenVm, GivenVm, GivenVm];
  const id = await stage.givenRollout([stays, loses, excluded], {
    select: {
      include: { tags: [{ name: 'env', value: 'prod' }], health: ['failed'] },
      exclude: { tags: [{ name: 'rollouts', value: 'off' }] },
    },
  });
  await stage.setTags(loses, { env: 'test' });
  await stage.setTags(excluded, { env: 'prod', rollouts: 'off' });
  await stage.fold(0);
  await stage.pass(1);
  expect(await stage.step(id, stays)).toMatchObject({ state: 'inFlight' });
  expect(await stage.step(id, loses)).toMatchObject({ state: 'skipped', cause: 'left-selection' });
  expect(await stage.step(id, excluded)).toMatchObject({ state: 'skipped', cause: 'left-selection' });
});

test('RO-11 no more steps are in flight than the ring allows; with a ramp, one more than were seen healthy', async () => {
  const vms = await stage.givenFleet(6);
  const id = await stage.givenRollout(vms, { rings: [{ size: 6, inFlight: { count: 2 }, ramp: true }] });
  const open = async () => (await stage.steps(id)).filter(({ state }) => state === 'inFlight');
  const succeedAll = async (seconds: number) => {
    for (const { vmId } of await open()) await stage.succeed(vms.find((vm) => vm.vmId === vmId) as GivenVm, seconds);
    await stage.look(seconds + 1);
    await stage.pass(seconds + 2);
  };
  await stage.pass(1);
  expect(await open()).toHaveLength(1);
  expect((await stage.rollout(id)).why).toMatchObject([{ code: 'ramp' }, { code: 'steps_open' }]);
  await succeedAll(10);
  expect(await open()).toHaveLength(2);
  await succeedAll(20);
  expect(await open()).toHaveLength(2);
  await succeedAll(30);
  await succeedAll(40);
  expect(await stage.rollout(id)).toMatchObject({ state: 'finished' });
});

test('RO-12 steps begin at the rate, and nothing is made up for after an outage', async () => {
  const vms = await stage.givenFleet(6);
  const id = await stage.givenRollout(vms, { stepsPerSecond: 2 });
  await stage.pass(1);
  expect(await stage.counts(id)).toEqual({ members: 6, inFlight: 2, queued: 4 });
  await stage.pass(1.5);
  expect(await stage.counts(id)).toEqual({ members: 6, inFlight: 2, queued: 4 });
  await stage.pass(100);
  expect(await stage.counts(id)).toEqual({ members: 6, inFlight: 4, queued: 2 });
});

test('RO-13 a VM has one open step over all rollouts', async () => {
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
  expect(await stage.step(first, running)).toMatchObject({ state: 'succeeded' });
  expect(await stage.step(first, queued)).toMatchObject({ state: 'skipped', cause: 'superseded' });
});
