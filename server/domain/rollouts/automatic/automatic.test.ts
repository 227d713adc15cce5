import { beforeEach, describe, expect, test } from 'vitest';
import type { GivenVm } from '#server/testing/fleet.ts';
import { longTest } from '#server/testing/long.ts';
import { outcomeOf } from '#server/testing/records.ts';
import { type AutomaticStage, automaticStage, tool } from '../testing/automatic-stage.ts';

let stage: AutomaticStage;
beforeEach(async () => {
  stage = await automaticStage();
});

test('RO-38, AZ-G10 a published version is rolled out without a person, and the requested version stays', async () => {
  const [vm] = (await stage.givenTools(1)) as [GivenVm];
  const [manual] = (await stage.givenTools(1, { autoUpgradeMinorVersion: false })) as [GivenVm];
  await stage.publish('2.0.0.0');
  await stage.work(0);
  // Without a VM that can be upgraded, there is no rollout.
  expect(await stage.automatics()).toEqual([]);

  await stage.publish('1.1.0.0');
  await stage.work(1);
  expect(await stage.versionOf(vm)).toEqual(['1.0.0.0', '1.1.0.0']);
  expect(await stage.versionOf(manual)).toEqual(['1.0.0.0', '1.0.0.0']);
  const { id, ...row } = await stage.automatic();
  expect(row).toMatchObject({ name: `${tool} 1.1.0.0 (automatic)`, state: 'running', startedBy: 'Annex' });
  expect(row.definition).toMatchObject({ strategy: 'automatic', onStepFailure: 'revert', newcomers: 'include' });
  expect(await stage.activity(id, 'rollout.start')).toMatchObject([{ actorName: 'Annex', details: { members: 1 } }]);

  await stage.settle(vm, 2, '1.1.0.0');
  expect(await stage.counts(id)).toEqual({ members: 1, succeeded: 1 });
  expect(await stage.rollout(id)).toMatchObject({ state: 'keeping' });
  await vm.declare('tool', { handler: tool, autoUpgradeMinorVersion: true });
  expect(await stage.versionOf(vm)).toEqual(['1.0.0.0', '1.1.0.0']);

  // VMs that match later join the last ring.
  const [later] = (await stage.givenTools(1)) as [GivenVm];
  await manual.declare('tool', { handler: tool, autoUpgradeMinorVersion: true });
  await stage.work(400);
  expect(await stage.automatics()).toHaveLength(1);
  expect(await stage.counts(id)).toEqual({ members: 3, succeeded: 1, inFlight: 1, queued: 1 });
  const [begun] = (await stage.vmsIn(id, [later, manual], 'inFlight')) as [GivenVm];
  expect(await stage.versionOf(begun)).toEqual(['1.0.0.0', '1.1.0.0']);
  expect(await stage.step(id, begun)).toMatchObject({ ring: 2 });
});

test('RO-38 an automatic rollout leaves the members of an open rollout of a person to it', async () => {
  const vms = (await stage.givenTools(2)) as [GivenVm, GivenVm];
  const [theirs, free] = vms;
  await stage.upgradeAtOnce();
  const change = { handler: tool, version: null, publicSettings: { merge: { level: 'debug' } } };
  const persons = await stage.givenRollout([theirs], { kind: 'rollout', planned: 'settings', change });
  await stage.look(1);
  await stage.publish('1.1.0.0');
  await stage.work(2);
  const { id } = await stage.automatic();
  expect(await stage.step(id, theirs)).toMatchObject({ state: 'parked', cause: 'vm-busy' });
  expect(await stage.versionOf(free)).toEqual(['1.0.0.0', '1.1.0.0']);
  expect(await stage.heldBack(theirs)).toMatchObject({ code: 'other-rollout', rollout: { id: persons } });

  await stage.settle(theirs, 10, '1.0.0.0', 2);
  expect(await stage.rollout(persons)).toMatchObject({ state: 'finished' });
  await stage.look(80);
  expect(await stage.versionOf(theirs)).toEqual(['1.0.0.0', '1.1.0.0']);
});

describe('RO-38 a still higher version', () => {
  longTest('supersedes the automatic rollout: queued members go over, and open steps are decided', async () => {
    const vms = await stage.givenTools(2);
    await stage.publish('1.1.0.0');
    await stage.work(1);
    const first = await stage.automatic();
    const [begun] = (await stage.vmsIn(first.id, vms, 'inFlight')) as [GivenVm];
    const queued = vms.find((vm) => vm !== begun) as GivenVm;
    await begun.deliver(stage.at(2));
    await stage.publish('1.2.0.0');
    await stage.work(3);
    const second = await stage.automatic();
    expect(await stage.rollout(first.id)).toMatchObject({ state: 'aborting', supersededBy: second.id });
    expect(await stage.activity(first.id, 'rollout.supersede')).toMatchObject([{ details: { byName: second.name } }]);
    expect(await stage.counts(second.id)).toMatchObject({ members: 2 });
    await stage.settle(begun, 4, '1.1.0.0');
    expect(await stage.rollout(first.id)).toMatchObject({ state: 'aborted' });
    expect(await stage.counts(first.id)).toEqual({ members: 2, succeeded: 1, unreached: 1 });
    await stage.finish(second.id, vms, 400, '1.2.0.0');
    expect(await stage.versionOf(begun)).toEqual(['1.0.0.0', '1.2.0.0']);
    expect(await stage.versionOf(queued)).toEqual(['1.0.0.0', '1.2.0.0']);
  });

  test('that is withdrawn gives way to the highest version that is published', async () => {
    const [vm] = (await stage.givenTools(1)) as [GivenVm];
    await stage.hold(vm);
    await stage.publish('1.1.0.0');
    await stage.work(1);
    await stage.publish('1.2.0.0');
    await stage.work(2);
    await stage.withdraw('1.2.0.0');
    await stage.work(3);
    const [third, second, first] = await stage.automatics();
    expect(first).toMatchObject({ state: 'aborted', supersededBy: second?.id });
    expect(second).toMatchObject({ state: 'aborted', supersededBy: third?.id });
    expect(third).toMatchObject({ state: 'running', definition: { change: { version: '1.1.0.0' } } });
    expect(await stage.heldBack(vm)).toMatchObject({
      code: 'turn',
      rollout: { id: third?.id },
      step: { state: 'parked', cause: 'on-hold' },
    });
  });
});

test('an automatic rollout that a person aborted is not started again', async () => {
  const [vm] = (await stage.givenTools(1)) as [GivenVm];
  await stage.hold(vm);
  await stage.publish('1.1.0.0');
  await stage.work(1);
  const { id } = await stage.automatic();
  await stage.abort(id, 2);
  await stage.work(100);
  expect((await stage.automatics()).map(({ state }) => state)).toEqual(['aborted']);
  expect(await stage.heldBack(vm)).toMatchObject({ code: 'stopped', rollout: { id, state: 'aborted' } });
  expect(await stage.versionOf(vm)).toEqual(['1.0.0.0', '1.0.0.0']);
});

describe('RO-32 a VM that was reverted from a version', () => {
  longTest('because its step failed is offered no automatic upgrade to it again', async () => {
    const [vm] = (await stage.givenTools(1)) as [GivenVm];
    await stage.publish('1.1.0.0');
    await stage.work(1);
    const { id } = await stage.automatic();
    await stage.fail(vm, 2, stage.reported('1.1.0.0', 2));
    await stage.look(3);
    await stage.settle(vm, 4, '1.0.0.0', 3);
    expect(await stage.counts(id)).toEqual({ members: 1, reverted: 1 });
    expect(await stage.heldBack(vm)).toMatchObject({ code: 'put-back', rollout: { id } });
    // Even if the rollout no longer existed, no other one would offer the version.
    await stage.forget(id);
    expect(await stage.upgrades()).toEqual([]);

    await stage.publish('1.2.0.0');
    await stage.work(400);
    expect(await stage.versionOf(vm)).toEqual(['1.0.0.0', '1.2.0.0']);
  });

  test('by the revert of a rollout is left out of the plan, and others are upgraded', async () => {
    const [vm, other] = (await stage.givenTools(2)) as [GivenVm, GivenVm];
    await stage.upgradeAtOnce();
    await stage.publish('1.1.0.0', { state: 'published' });
    const of = await stage.givenRollout([vm], { change: { handler: tool } });
    await stage.look(1);
    await stage.settle(vm, 2, '1.1.0.0');
    const revert = await stage.givenRollout([vm], { kind: 'revert', planned: 'revert', of });
    await stage.look(400);
    await stage.settle(vm, 401, '1.0.0.0', 3);
    expect(await stage.rollout(revert)).toMatchObject({ state: 'finished' });
    await stage.work(800);
    const { id } = await stage.automatic();
    expect(await stage.counts(id)).toEqual({ members: 1, inFlight: 1 });
    expect(await stage.versionOf(other)).toEqual(['1.0.0.0', '1.1.0.0']);
    await stage.work(900);
    expect(await stage.counts(id)).toEqual({ members: 1, inFlight: 1 });
    expect(await stage.heldBack(vm)).toMatchObject({ code: 'put-back', rollout: { id: of } });
  });
});

describe('RO-33 the approval of an automatic rollout', () => {
  const rule = { fromMembers: 1, people: 1, role: 'operator' as const };

  test('is needed only where the rules say so, and starts it', async () => {
    const [vm] = (await stage.givenTools(1)) as [GivenVm];
    await stage.setRules(0, { approval: { ...rule, automatic: true } });
    await stage.publish('1.1.0.0');
    await stage.work(1);
    const { id, planHash, state, startedBy } = await stage.automatic();
    expect({ state, startedBy }).toEqual({ state: 'planned', startedBy: null });
    expect(await stage.heldBack(vm)).toMatchObject({ code: 'turn', rollout: { id, state: 'planned' }, step: null });
    // A higher version supersedes the plan too.
    await stage.publish('1.2.0.0');
    await stage.work(2);
    const next = await stage.automatic();
    expect(await stage.rollout(id)).toMatchObject({ state: 'aborted', startedAt: null, supersededBy: next.id });
    expect(await outcomeOf(stage.approve(id, planHash ?? '', 3))).toBe('conflict rollout_state');
    await stage.approve(next.id, next.planHash ?? '', 3);
    await stage.work(4);
    expect(await stage.versionOf(vm)).toEqual(['1.0.0.0', '1.2.0.0']);
    expect(await stage.rollout(next.id)).toMatchObject({ state: 'running', startedBy: 'Annex' });
  });

  test('is not needed under rules for other rollouts', async () => {
    const [vm] = (await stage.givenTools(1)) as [GivenVm];
    await stage.setRules(0, { approval: rule });
    await stage.publish('1.1.0.0');
    await stage.work(1);
    expect(await stage.versionOf(vm)).toEqual(['1.0.0.0', '1.1.0.0']);
  });
});

test('before its start, the rings of an automatic rollout can be edited, but not its selection and its change', async () => {
  await stage.givenTools(1);
  await stage.setRules(0, { approval: { fromMembers: 1, people: 1, role: 'operator', automatic: true } });
  await stage.publish('1.1.0.0');
  await stage.work(1);
  const { id } = await stage.automatic();
  const rings = [{ name: 'all', upTo: { percent: 100 } }];
  expect(await stage.edit(id, { rings, select: { all: true } })).toBe('conflict rollout_fixed; /select rollout_fixed');
  expect(await stage.edit(id, { rings, newcomers: 'ignore' })).toBe('conflict rollout_fixed; /newcomers rollout_fixed');
  expect(await stage.edit(id, { rings })).toBe('done');
  const { kind, state, definition } = await stage.rollout(id);
  expect({ kind, state }).toEqual({ kind: 'automatic', state: 'draft' });
  expect(definition).toMatchObject({ newcomers: 'include', rings: [{ name: 'all' }] });
});

test('two workers that notice a version create one rollout', async () => {
  await stage.givenTools(1);
  await stage.publish('1.1.0.0');
  await Promise.all([stage.start('1.1.0.0'), stage.start('1.1.0.0')]);
  expect(await stage.automatics()).toHaveLength(1);
});

test('no automatic rollout starts while as many rollouts are open as the limit allows', async () => {
  const vms = await stage.givenTools(1);
  await stage.givenRollout(vms);
  await stage.publish('1.1.0.0');
  const { config } = stage.services;
  const limits = { ...config.limits, rollouts: { ...config.limits.rollouts, open: 1 } };
  expect(await stage.start('1.1.0.0', { config: { ...config, limits } })).toBeNull();
  expect(await stage.automatics()).toEqual([]);
});
