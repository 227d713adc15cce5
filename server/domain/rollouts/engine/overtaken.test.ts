import { beforeEach, describe, expect, test } from 'vitest';
import { removeExtension } from '#server/domain/goal-states/index.ts';
import { holdVm } from '#server/domain/holds/index.ts';
import { removeVm } from '#server/domain/vm-lifecycle/index.ts';
import type { GivenVm } from '#server/testing/fleet.ts';
import { listRolloutSteps } from '../list-steps.ts';
import { pauseRollout } from '../pause-rollout.ts';
import { resumeRollout } from '../resume-rollout.ts';
import { type GivenRollout, type RolloutStage, rolloutStage } from '../testing/rollout-stage.ts';

/** Where a member is when something happens to its VM. */
type Place = 'queued' | 'parked' | 'recalled' | 'undelivered' | 'delivered' | 'soaking' | 'retrying' | 'succeeded';

let stage: RolloutStage;

beforeEach(async () => {
  stage = await rolloutStage();
});

const terms: GivenRollout = {
  rings: [{ size: 1, soakSeconds: 300 }],
  retry: { times: 1, afterSeconds: 60, causes: ['status'] },
};

/** Creates a rollout with one VM, whose step is in this place. */
async function givenPlace(place: Place): Promise<{ id: string; vm: GivenVm }> {
  const [vm] = (await stage.givenFleet(1)) as [GivenVm];
  if (place === 'parked') await holdVm(stage.as(0), { vmId: vm.vmId, reason: 'maintenance' });
  const id = await stage.givenRollout([vm], terms);
  if (place !== 'queued') await stage.pass(1);
  if (place === 'recalled') await pauseRollout(stage.as(2), { id });
  if (place === 'delivered') await vm.deliver(stage.at(2));
  if (place === 'retrying') await stage.fail(vm, 2);
  if (place === 'soaking' || place === 'succeeded') await stage.succeed(vm, 2);
  if (place !== 'queued') await stage.look(3);
  if (place === 'succeeded') await stage.pass(310);
  const states = { undelivered: 'inFlight', delivered: 'inFlight', queued: undefined };
  expect((await stage.step(id, vm))?.state).toBe(place in states ? states[place as keyof typeof states] : place);
  return { id, vm };
}

/** Lets the worker look twice: what a pass decides may close the rollout in the next one. */
async function lookOn(): Promise<void> {
  await stage.look(320);
  await stage.look(321);
}

describe('a person changes the extension of a VM', () => {
  test.each<[Place]>([['undelivered'], ['delivered'], ['soaking'], ['retrying']])(
    'whose step is %s: the step is overtaken, by that person and with that act',
    async (place) => {
      const { id, vm } = await givenPlace(place);
      await vm.declare('probe', { version: '1.2.0.0' });
      await stage.look(20);
      expect(await stage.step(id, vm)).toMatchObject({
        state: 'overtaken',
        cause: null,
        dueAt: null,
        overtakenBy: { by: 'Test operator', action: 'extension.set' },
      });
      await stage.look(21);
      expect(await stage.rollout(id)).toMatchObject({ state: 'finished' });
      expect(await stage.counts(id)).toEqual({ members: 1, overtaken: 1 });
      expect(JSON.parse((await stage.head(vm)).text).extensions).toMatchObject([{ version: '1.2.0.0' }]);
    },
  );

  test('whose step succeeded: the step stays as it is', async () => {
    const { id, vm } = await givenPlace('succeeded');
    await vm.declare('probe', { version: '1.2.0.0' });
    await stage.look(320);
    expect(await stage.step(id, vm)).toMatchObject({ state: 'succeeded', overtakenBy: null });
  });

  test.each<[Place, string]>([
    ['queued', '1.2.0.0'],
    ['recalled', '1.2.0.0'],
  ])('whose step is %s: a lower version is left alone', async (place, version) => {
    const { id, vm } = await givenPlace(place);
    await vm.declare('probe', { version });
    if (place === 'recalled') await resumeRollout(stage.as(10), { id });
    await stage.look(20);
    expect(await stage.step(id, vm)).toMatchObject({ state: 'skipped', cause: 'already' });
    expect(JSON.parse((await stage.head(vm)).text).extensions).toMatchObject([{ version }]);
  });

  test('by removing it: the step names the removal', async () => {
    const { id, vm } = await givenPlace('delivered');
    await removeExtension(stage.as(10), { vmId: vm.vmId, name: 'probe' });
    await stage.look(20);
    expect(await stage.step(id, vm)).toMatchObject({
      state: 'overtaken',
      overtakenBy: { by: 'Test operator', action: 'extension.remove' },
    });
  });

  test('and another act follows: the step names the act that changed the extension', async () => {
    const { id, vm } = await givenPlace('delivered');
    await vm.declare('probe', { version: '1.2.0.0' });
    await holdVm(stage.as(10), { vmId: vm.vmId, reason: 'maintenance' });
    await stage.look(20);
    expect(await stage.step(id, vm)).toMatchObject({ overtakenBy: { action: 'extension.set' } });
  });

  test('before an undelivered step is taken back: nothing is taken back', async () => {
    const { id, vm } = await givenPlace('undelivered');
    await pauseRollout(stage.as(4), { id });
    await vm.declare('probe', { version: '1.2.0.0' });
    await stage.look(5);
    expect(await stage.step(id, vm)).toMatchObject({ state: 'overtaken', overtakenBy: { by: 'Test operator' } });
    expect((await stage.published(id, vm)).map(({ cause }) => cause.action)).toEqual(['rollout.step']);
  });

  test('another extension: the step continues', async () => {
    const { id, vm } = await givenPlace('delivered');
    await vm.declare('other', { handler: 'Acme.Lab.Other' });
    await vm.deliver(stage.at(10));
    await stage.report(vm, 11);
    await stage.look(12);
    expect(await stage.step(id, vm)).toMatchObject({ state: 'soaking' });
  });
});

test('RO-6 a skipped step says both kinds: the planned one, and what the change would do now', async () => {
  const [vm] = (await stage.givenFleet(1)) as [GivenVm];
  const id = await stage.givenRollout([vm], { change: { publicSettings: { merge: { level: 'info' } } } });
  await vm.declare('probe', { version: '1.1.0.0' });
  await stage.pass(1);
  expect(await stage.step(id, vm)).toMatchObject({ state: 'skipped', cause: 'moved' });
  const { items } = await listRolloutSteps(stage.operator, { id });
  expect(items).toMatchObject([{ kind: 'update', state: 'skipped', cause: 'moved', movedTo: 'settings' }]);
  expect(await stage.published(id, vm)).toEqual([]);
});

describe('a VM that is deleted', () => {
  test.each<[Place]>([['queued'], ['parked'], ['undelivered'], ['delivered'], ['soaking'], ['retrying']])(
    'while its step is %s is gone, and no failure',
    async (place) => {
      const { id, vm } = await givenPlace(place);
      await removeVm(stage.as(10), { vmId: vm.vmId });
      await lookOn();
      expect(await stage.step(id, vm)).toMatchObject({ state: 'gone', cause: null, dueAt: null });
      expect(await stage.counts(id)).toEqual({ members: 1, gone: 1 });
      expect(await stage.rollout(id)).toMatchObject({ state: 'finished' });
    },
  );

  test('after its step stays in the counts', async () => {
    const { id, vm } = await givenPlace('succeeded');
    await removeVm(stage.as(320), { vmId: vm.vmId });
    await stage.look(321);
    expect(await stage.counts(id)).toEqual({ members: 1, succeeded: 1 });
  });

  test('while its step is recalled is gone at its turn', async () => {
    const { id, vm } = await givenPlace('recalled');
    await removeVm(stage.as(5), { vmId: vm.vmId });
    await resumeRollout(stage.as(10), { id });
    await lookOn();
    expect(await stage.counts(id)).toEqual({ members: 1, gone: 1 });
  });
});

describe('a VM that is being decommissioned', () => {
  test.each<[Place]>([['queued'], ['undelivered'], ['delivered'], ['soaking'], ['retrying']])(
    'while its step is %s is gone, and keeps being uninstalled',
    async (place) => {
      const { id, vm } = await givenPlace(place);
      await removeVm(stage.as(10), { vmId: vm.vmId, decommission: true });
      await lookOn();
      expect(await stage.step(id, vm)).toMatchObject({ state: 'gone' });
      expect(await stage.rollout(id)).toMatchObject({ state: 'finished' });
      expect(JSON.parse((await stage.head(vm)).text).extensions).toMatchObject([{ state: 'uninstall' }]);
    },
  );
});
