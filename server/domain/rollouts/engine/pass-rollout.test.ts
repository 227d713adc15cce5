import { createHash } from 'node:crypto';
import { eq } from 'drizzle-orm';
import { beforeEach, expect, test } from 'vitest';
import { handlerVersions, rollouts, secrets } from '#db/schema/index.ts';
import { markAged } from '#server/domain/health/index.ts';
import { holdVm } from '#server/domain/holds/index.ts';
import type { GivenVm } from '#server/testing/fleet.ts';
import { abortRollout } from '../abort-rollout.ts';
import { pauseRollout } from '../pause-rollout.ts';
import { resumeRollout } from '../resume-rollout.ts';
import { sealGiven } from '../secrets.ts';
import { type RolloutStage, rolloutStage } from '../testing/rollout-stage.ts';
import { hintRollouts } from './due.ts';

type Step = Awaited<ReturnType<RolloutStage['steps']>>[number];
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

test('RO-30 an abort always ends, also while a VM is on hold', async () => {
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

test('RO-32 a failed VM is put back immediately where the plan says so', async () => {
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

test('RO-39 each batch is one line of the activity, with the digest of what it published', async () => {
  const vms = await stage.givenFleet(2);
  const id = await stage.givenRollout(vms);
  await stage.pass(1);
  const lines = (await stage.steps(id)).map(({ vmId, incarnation }) => `${vmId} ${incarnation}\n`).sort();
  const sha256 = createHash('sha256').update(lines.join('')).digest('hex');
  expect(await stage.activity(id, 'rollout.batch')).toMatchObject([
    { actorId: `rollout/${id}`, actorName: 'probe 1.1', details: { ring: 0, count: 2, sha256 } },
  ]);
});

test('RO-39 protected settings of a change are sealed for each VM, and destroyed when the rollout ends', async () => {
  const [vm] = (await stage.givenFleet(1)) as [GivenVm];
  const id = await stage.givenRollout([vm], { change: { protectedSettings: 'given' } });
  const sealed = await stage.db.transaction((tx) =>
    sealGiven(tx, stage.operator, { id, change: { kind: 'set' } }, { password: 'hush' }),
  );
  await stage.db.update(rollouts).set(sealed);
  await stage.pass(1);
  const [stored] = await stage.db.select().from(secrets).where(eq(secrets.vmId, vm.vmId));
  expect(stored).toMatchObject({ name: 'probe', changedBy: 'probe 1.1' });
  await stage.succeed(vm, 10);
  await stage.look(11);
  expect(await stage.rollout(id)).toMatchObject({ state: 'finished', sealed: null });
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

test('RO-24 changed VMs are watched beside VMs of later rings, and it counts which of the two fails first', async () => {
  const vms = await stage.givenFleet(8);
  const compare = { minEffectShare: 100, minPairs: 50, onTooFew: 'goOn' } as const;
  const id = await stage.givenRollout(vms, { rings: [{ size: 3, soakSeconds: 300, compare }, { size: 5 }] });
  const of = (vmId: string | null) => vms.find((vm) => vm.vmId === vmId) as GivenVm;
  await stage.pass(1);
  const [one, two, three] = (await stage.steps(id)) as [Step, Step, Step];
  const controls = [one, two, three].map(({ pairVmId }) => of(pairVmId));
  expect(new Set(controls).size).toBe(3);
  expect((await stage.rings(id))[0]?.counts).toMatchObject({ pairs: 3, pairsOpen: 3 });
  for (const vm of controls) expect(await stage.step(id, vm)).toBeUndefined();
  await stage.fail(of(one.vmId), 10);
  await of(two.vmId).deliver(stage.at(10));
  await stage.report(of(two.pairVmId), 10, { status: 'error', version: '1.0.0.0', sequenceNumber: 1 });
  await stage.succeed(of(three.vmId), 10);
  await stage.look(11);
  await stage.look(320);
  expect((await stage.steps(id)).map(({ pairResult }) => pairResult).slice(0, 3)).toEqual([
    'changed-first',
    'control-first',
    'neither',
  ]);
  expect((await stage.rings(id))[0]?.counts).toMatchObject({
    changedFirst: 1,
    controlFirst: 1,
    pairsNeither: 1,
    pairsOpen: 0,
  });
});

test('newcomers join the end of the last ring', async () => {
  const [known] = (await stage.givenFleet(1, { tags: { env: 'prod' } })) as [GivenVm];
  await stage.fold(0);
  const tagged = { tags: [{ name: 'env', value: 'prod' }] };
  const id = await stage.givenRollout([known], { newcomers: 'include', select: { include: tagged } });
  await stage.pass(1);
  await stage.succeed(known, 10);
  await stage.look(11);
  await stage.look(12);
  expect(await stage.rollout(id)).toMatchObject({ state: 'keeping' });
  const [joins] = (await stage.givenFleet(1, { tags: { env: 'prod' } })) as [GivenVm];
  await stage.fold(20);
  await stage.look(80);
  expect(await stage.step(id, joins)).toMatchObject({ state: 'inFlight', ring: 0, place: 1 });
  expect(await stage.counts(id)).toEqual({ members: 2, succeeded: 1, inFlight: 1 });
});
