import { eq } from 'drizzle-orm';
import { beforeEach, expect, test } from 'vitest';
import { handlerVersions, rollouts } from '#db/schema/index.ts';
import type { GivenVm } from '#server/testing/fleet.ts';
import { type RolloutStage, rolloutStage } from '../testing/rollout-stage.ts';

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
  const [stays, loses, excluded] = (await stage.givenFleet(3, { tags: { env: 'prod' } })) as [
    GivenVm,
    GivenVm,
    GivenVm,
  ];
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

test('RO-20 a failed step is repeated, and counts once, by its last attempt', async () => {
  const [vm] = (await stage.givenFleet(1)) as [GivenVm];
  const id = await stage.givenRollout([vm], { retry: { times: 1, afterSeconds: 60, causes: ['status'] } });
  await stage.pass(1);
  await stage.fail(vm, 10);
  await stage.look(11);
  expect(await stage.step(id, vm)).toMatchObject({ state: 'retrying', dueAt: stage.at(71) });
  await stage.pass(72);
  expect(await stage.step(id, vm)).toMatchObject({ state: 'inFlight', attempt: 2, touched: [{ sequenceNumber: 3 }] });
  await stage.succeed(vm, 80, { sequenceNumber: 3 });
  await stage.look(81);
  expect(await stage.counts(id)).toEqual({ members: 1, succeeded: 1 });
});

test('a restored database and a withdrawn version pause a rollout', async () => {
  const [one, two] = (await stage.givenFleet(2)) as [GivenVm, GivenVm];
  const restored = await stage.givenRollout([one]);
  await stage.db.update(rollouts).set({ epoch: 'earlier' });
  await stage.pass(1);
  expect(await stage.rollout(restored)).toMatchObject({
    state: 'paused',
    pausedBy: 'portal',
    why: [{ code: 'restored' }],
  });
  const withdrawn = await stage.givenRollout([two]);
  await stage.db.update(handlerVersions).set({ state: 'withdrawn' }).where(eq(handlerVersions.version, '1.1.0.0'));
  await stage.pass(2);
  expect(await stage.rollout(withdrawn)).toMatchObject({ state: 'paused', why: [{ code: 'version_withdrawn' }] });
  expect(await stage.counts(withdrawn)).toEqual({ members: 1, queued: 1 });
});
