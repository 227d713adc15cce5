import { eq } from 'drizzle-orm';
import { beforeEach, describe, expect, test } from 'vitest';
import { handlerVersions } from '#db/schema/index.ts';
import type { GivenVm } from '#server/testing/fleet.ts';
import { checkRollout } from '../planning/check-rollout.ts';
import { planRollout } from '../planning/plan-rollout.ts';
import { type GivenRollout, type RolloutStage, rolloutStage } from '../testing/rollout-stage.ts';

let stage: RolloutStage;

beforeEach(async () => {
  stage = await rolloutStage();
});

const declared = async (vm: GivenVm) => JSON.parse((await stage.head(vm)).text).extensions;

/** Creates a rollout that succeeded on these VMs. */
async function givenDone(vms: readonly GivenVm[], given: GivenRollout = {}, extension = 'probe'): Promise<string> {
  const id = await stage.givenRollout(vms, given);
  await stage.pass(1);
  for (const vm of vms) {
    const sequenceNumber = (await stage.step(id, vm))?.touched[0]?.sequenceNumber ?? 0;
    await stage.succeed(vm, 10, { extension, sequenceNumber });
  }
  await stage.look(11);
  expect(await stage.rollout(id)).toMatchObject({ state: 'finished' });
  return id;
}

const givenRevert = (of: string, vms: readonly GivenVm[], more: GivenRollout = {}) =>
  stage.givenRollout(vms, { kind: 'revert', planned: 'revert', of, ...more });

describe('RO-31 a revert', () => {
  test('uninstalls what was absent before, and leaves other extensions alone', async () => {
    const [vm] = (await stage.givenFleet(1)) as [GivenVm];
    const change = { handler: 'Acme.Lab.Other', extension: 'other', onAbsent: 'install' as const };
    const of = await givenDone([vm], { planned: 'install', change }, 'other');
    const id = await givenRevert(of, [vm]);
    await stage.look(20);
    expect(await stage.step(id, vm)).toMatchObject({ state: 'inFlight', touched: [{ name: 'other' }] });
    expect(await declared(vm)).toMatchObject([
      { name: 'other', state: 'uninstall' },
      { name: 'probe', state: 'enabled', version: '1.0.0.0', sequenceNumber: 1 },
    ]);
    // RO-17: it has succeeded when the extension is gone.
    await vm.deliver(stage.at(25));
    await stage.look(26);
    expect(await stage.counts(id)).toEqual({ members: 1, inFlight: 1 });
    await stage.report(vm, 30, { extension: 'other', sequenceNumber: 2, state: 'removed' });
    await stage.look(31);
    expect(await stage.counts(id)).toEqual({ members: 1, succeeded: 1 });
    expect(await declared(vm)).toMatchObject([{ name: 'probe' }]);
  });

  test('restores settings, state and timeouts as each VM had them', async () => {
    const vms = (await stage.givenFleet(2)) as [GivenVm, GivenVm];
    const [one, two] = vms;
    await one.declare('probe', { settings: { publicSettings: { level: 'debug' } }, timeouts: { enable: 77 } });
    await two.declare('probe', { state: 'disabled' });
    const of = await stage.givenRollout(vms, {
      change: { state: 'enabled', publicSettings: { merge: { level: 'info' } }, timeouts: { enable: 90 } },
    });
    await stage.pass(1);
    for (const vm of vms) {
      expect(await declared(vm)).toMatchObject([{ version: '1.1.0.0', state: 'enabled', sequenceNumber: 3 }]);
      await stage.succeed(vm, 10, { sequenceNumber: 3 });
    }
    await stage.look(11);
    await givenRevert(of, vms);
    await stage.look(20);
    expect(await declared(one)).toMatchObject([
      {
        version: '1.0.0.0',
        sequenceNumber: 4,
        settings: { publicSettings: { level: 'debug' } },
        timeouts: { enable: 77 },
      },
    ]);
    expect(await declared(two)).toMatchObject([{ version: '1.0.0.0', sequenceNumber: 4, state: 'disabled' }]);
  });

  test('skips a VM whose earlier version is withdrawn', async () => {
    const [vm] = (await stage.givenFleet(1)) as [GivenVm];
    const of = await givenDone([vm]);
    await stage.db.update(handlerVersions).set({ state: 'withdrawn' }).where(eq(handlerVersions.version, '1.0.0.0'));
    const id = await givenRevert(of, [vm]);
    await stage.look(20);
    expect(await stage.step(id, vm)).toMatchObject({ state: 'skipped', cause: 'refused:version_withdrawn' });
    await stage.look(21);
    expect(await stage.rollout(id)).toMatchObject({ state: 'finished' });
    expect(await declared(vm)).toMatchObject([{ version: '1.1.0.0' }]);
  });

  test('keeps the limits: in flight, and one VM of an availability set', async () => {
    const web = await stage.givenFleet(2, { tags: { 'availability-set': 'web' } });
    const rest = await stage.givenFleet(2);
    await stage.fold(0);
    const vms = [...web, ...rest];
    const of = await givenDone(vms, { availabilitySets: 'ignore' });
    const id = await givenRevert(of, vms, { rings: [{ size: 4, inFlight: { count: 3 } }] });
    await stage.look(20);
    expect(await stage.vmsIn(id, web, 'inFlight')).toHaveLength(1);
    expect(await stage.vmsIn(id, rest, 'inFlight')).toHaveLength(2);
  });

  test('fails a VM that is not healthy with what it had before, and does not halt', async () => {
    const vms = (await stage.givenFleet(2)) as [GivenVm, GivenVm];
    const of = await givenDone(vms);
    const id = await givenRevert(of, vms);
    await stage.look(20);
    await stage.fail(vms[0], 30, { version: '1.0.0.0', sequenceNumber: 3 });
    await stage.succeed(vms[1], 30, { version: '1.0.0.0', sequenceNumber: 3 });
    await stage.look(31);
    expect(await stage.rollout(id)).toMatchObject({ state: 'finished' });
    expect(await stage.counts(id)).toEqual({ members: 2, succeeded: 1, failed: 1 });
  });
});

describe('RO-32 a failed VM that is reverted immediately', () => {
  const terms: GivenRollout = { onStepFailure: 'revert', rings: [{ size: 1, errors: { count: 2 } }] };

  test('is stuck if it is not healthy again', async () => {
    const [vm] = (await stage.givenFleet(1)) as [GivenVm];
    const id = await stage.givenRollout([vm], terms);
    await stage.pass(1);
    await stage.fail(vm, 10);
    await stage.look(11);
    // It counts as failed while it is being reverted.
    expect((await stage.rings(id))[0]?.verdicts).toMatchObject([{ params: { failed: 1, decided: 1 } }]);
    await stage.fail(vm, 20, { version: '1.0.0.0', sequenceNumber: 3 });
    await stage.look(21);
    expect(await stage.step(id, vm)).toMatchObject({ state: 'stuck', cause: 'status', dueAt: null });
    expect(await stage.counts(id)).toEqual({ members: 1, failed: 1 });
  });

  test('is stuck if its agent does not fetch what it had before', async () => {
    const [vm] = (await stage.givenFleet(1)) as [GivenVm];
    const id = await stage.givenRollout([vm], terms);
    await stage.pass(1);
    await stage.fail(vm, 10);
    await stage.look(11);
    await stage.look(300);
    expect(await stage.step(id, vm)).toMatchObject({ state: 'reverting' });
    await stage.look(312);
    expect(await stage.step(id, vm)).toMatchObject({ state: 'stuck' });
    expect((await stage.published(id, vm)).map(({ cause }) => cause.action)).toEqual([
      'rollout.step',
      'rollout.revert',
    ]);
  });

  test('is reverted only after its last attempt', async () => {
    const [vm] = (await stage.givenFleet(1)) as [GivenVm];
    const retry = { times: 1, afterSeconds: 60, causes: ['status'] };
    const id = await stage.givenRollout([vm], { ...terms, retry });
    await stage.pass(1);
    await stage.fail(vm, 10);
    await stage.look(11);
    await stage.pass(71);
    await stage.fail(vm, 80, { sequenceNumber: 3 });
    await stage.look(81);
    expect(await stage.step(id, vm)).toMatchObject({ state: 'reverting', attempt: 2 });
    expect(await declared(vm)).toMatchObject([{ version: '1.0.0.0', sequenceNumber: 4 }]);
    await stage.succeed(vm, 90, { version: '1.0.0.0', sequenceNumber: 4 });
    await stage.look(91);
    expect(await stage.counts(id)).toEqual({ members: 1, reverted: 1 });
  });

  test('continues to be reverted while the rollout is paused by its gate', async () => {
    const [vm] = (await stage.givenFleet(1)) as [GivenVm];
    const id = await stage.givenRollout([vm], { ...terms, rings: [{ size: 1, errors: { count: 1 } }] });
    await stage.pass(1);
    await stage.fail(vm, 10);
    await stage.look(11);
    expect(await stage.rollout(id)).toMatchObject({ state: 'paused', why: [{ code: 'errors_count' }] });
    expect(await stage.step(id, vm)).toMatchObject({ state: 'reverting' });
    await stage.succeed(vm, 20, { version: '1.0.0.0', sequenceNumber: 3 });
    await stage.look(21);
    expect(await stage.counts(id)).toEqual({ members: 1, reverted: 1 });
  });
});

test('RO-32 the revert of a halted rollout starts as soon as it is planned, and changes the VMs back', async () => {
  const vms = (await stage.givenFleet(3)) as [GivenVm, GivenVm, GivenVm];
  const id = await stage.givenRollout(vms, {
    onHalt: 'revert',
    rings: [{ size: 2, errors: { count: 1 } }, { size: 1 }],
  });
  await stage.pass(1);
  const [good, bad] = (await stage.vmsIn(id, vms, 'inFlight')) as [GivenVm, GivenVm];
  await stage.succeed(good, 10);
  await stage.fail(bad, 10);
  await stage.look(11);
  await stage.look(12);
  expect(await stage.rollout(id)).toMatchObject({ state: 'aborted' });
  expect(await stage.counts(id)).toEqual({ members: 3, succeeded: 1, failed: 1, unreached: 1 });
  const revert = String((await stage.rollout(id)).revertedBy);
  await planRollout(stage.services, revert);
  await checkRollout(stage.services, revert, stage.at(13));
  await stage.look(14);
  expect(await stage.counts(revert)).toEqual({ members: 2, inFlight: 2 });
  for (const vm of [good, bad]) {
    expect(await declared(vm)).toMatchObject([{ version: '1.0.0.0', sequenceNumber: 3 }]);
    await stage.succeed(vm, 20, { version: '1.0.0.0', sequenceNumber: 3 });
  }
  await stage.look(21);
  expect(await stage.rollout(revert)).toMatchObject({ state: 'finished' });
});
