import { beforeEach, describe, expect, test } from 'vitest';
import type { GivenVm } from '#server/testing/fleet.ts';
import { abortRollout } from '../abort-rollout.ts';
import { type RolloutStage, rolloutStage } from '../testing/rollout-stage.ts';

const tags = { 'availability-set': 'web' };
let stage: RolloutStage;

beforeEach(async () => {
  stage = await rolloutStage();
});

/** The VM of the step that is in flight, of which there must be one. */
async function onlyOpen(id: string, vms: readonly GivenVm[]): Promise<GivenVm> {
  const [vm, ...others] = await stage.vmsIn(id, vms, 'inFlight');
  expect(others).toEqual([]);
  if (vm === undefined) throw new Error('no step is in flight');
  return vm;
}

describe('RO-15 an availability set', () => {
  test('is shared by two rollouts: one VM of both is changed at a time', async () => {
    const [one, two] = (await stage.givenFleet(2, { tags })) as [GivenVm, GivenVm];
    await stage.fold(0);
    const first = await stage.givenRollout([one]);
    await stage.pass(1);
    const second = await stage.givenRollout([two]);
    await stage.pass(2);
    expect(await stage.step(first, one)).toMatchObject({ state: 'inFlight' });
    expect(await stage.reservations()).toEqual([['web', one.vmId, first]]);
    expect(await stage.step(second, two)).toMatchObject({ state: 'parked', cause: 'set-busy' });
    await stage.succeed(one, 10);
    await stage.look(11);
    expect(await stage.step(first, one)).toMatchObject({ state: 'succeeded' });
    await stage.look(12);
    expect(await stage.step(second, two)).toMatchObject({ state: 'inFlight' });
    expect(await stage.reservations()).toEqual([['web', two.vmId, second]]);
  });

  test('is closed while a VM of it that is not a member is out of service', async () => {
    const [member, outside] = (await stage.givenFleet(2, { tags })) as [GivenVm, GivenVm];
    await outside.deliver(stage.at(0));
    await stage.report(outside, 0, { status: 'error', version: '1.0.0.0', sequenceNumber: 1 });
    const id = await stage.givenRollout([member]);
    await stage.pass(1);
    expect(await stage.step(id, member)).toMatchObject({ state: 'parked', cause: 'set-busy' });
    await stage.report(outside, 10, { version: '1.0.0.0', sequenceNumber: 1 });
    await stage.look(11);
    expect(await stage.step(id, member)).toMatchObject({ state: 'inFlight' });
  });

  test('lets a VM begin that is out of service itself', async () => {
    const [broken, fine] = (await stage.givenFleet(2, { tags })) as [GivenVm, GivenVm];
    await stage.report(broken, 0, { status: 'error', version: '1.0.0.0', sequenceNumber: 1 });
    const id = await stage.givenRollout([broken, fine]);
    await stage.pass(1);
    expect(await onlyOpen(id, [broken, fine])).toBe(broken);
    expect(await stage.step(id, fine)).toMatchObject({ state: 'parked', cause: 'set-busy' });
  });

  test('stays closed while a failed step waits for its next attempt', async () => {
    const vms = await stage.givenFleet(2, { tags });
    await stage.fold(0);
    const id = await stage.givenRollout(vms, { retry: { times: 1, afterSeconds: 60, causes: ['status'] } });
    await stage.pass(1);
    const first = await onlyOpen(id, vms);
    await stage.fail(first, 10);
    await stage.look(11);
    expect(await stage.counts(id)).toEqual({ members: 2, inFlight: 1, parked: 1 });
    expect(await stage.step(id, first)).toMatchObject({ state: 'retrying' });
    expect(await stage.reservations()).toEqual([['web', first.vmId, id]]);
    await stage.pass(72);
    expect(await onlyOpen(id, vms)).toBe(first);
    await stage.succeed(first, 80, { sequenceNumber: 3 });
    await stage.look(81);
    expect(await onlyOpen(id, vms)).not.toBe(first);
  });

  test('is open again when its step was aborted, and others wait for nothing', async () => {
    const [one, two] = (await stage.givenFleet(2, { tags })) as [GivenVm, GivenVm];
    await stage.fold(0);
    const first = await stage.givenRollout([one]);
    await stage.pass(1);
    const second = await stage.givenRollout([two]);
    await stage.pass(2);
    await abortRollout(stage.as(3), { id: first });
    await stage.look(3);
    await stage.look(4);
    expect(await stage.rollout(first)).toMatchObject({ state: 'aborted' });
    expect(await stage.step(second, two)).toMatchObject({ state: 'inFlight' });
  });

  test('is ignored where the rollout says so, and other rollouts wait for it', async () => {
    const vms = await stage.givenFleet(3, { tags });
    await stage.fold(0);
    const id = await stage.givenRollout(vms, { availabilitySets: 'ignore' });
    await stage.pass(1);
    expect(await stage.counts(id)).toEqual({ members: 3, inFlight: 3 });
    const [outside] = (await stage.givenFleet(1, { tags })) as [GivenVm];
    await stage.fold(2);
    const other = await stage.givenRollout([outside]);
    await stage.pass(3);
    expect(await stage.step(other, outside)).toMatchObject({ state: 'parked', cause: 'set-busy' });
  });

  test('does not keep other sets waiting', async () => {
    const web = await stage.givenFleet(2, { tags });
    const db = await stage.givenFleet(2, { tags: { 'availability-set': 'db' } });
    await stage.fold(0);
    const id = await stage.givenRollout([...web, ...db]);
    await stage.pass(1);
    expect(await stage.vmsIn(id, web, 'inFlight')).toHaveLength(1);
    expect(await stage.vmsIn(id, db, 'inFlight')).toHaveLength(1);
    expect((await stage.rollout(id)).why[0]).toMatchObject({ code: 'sets_busy', params: { members: 2 } });
  });

  test('is the value of the tag that the rules name', async () => {
    const vms = await stage.givenFleet(2, { tags: { role: 'web' } });
    await stage.fold(0);
    await stage.setRules(0, { availabilitySetTag: 'role' });
    const id = await stage.givenRollout(vms);
    await stage.pass(1);
    expect(await stage.counts(id)).toEqual({ members: 2, inFlight: 1, parked: 1 });
  });
});

test('RO-13 two rollouts change different extensions of a VM one after the other', async () => {
  const [vm] = (await stage.givenFleet(1)) as [GivenVm];
  await vm.declare('other', { handler: 'Acme.Lab.Other' });
  await vm.deliver(stage.at(-1));
  const first = await stage.givenRollout([vm], { rings: [{ size: 1, soakSeconds: 300 }] });
  await stage.pass(1);
  const second = await stage.givenRollout([vm], { change: { handler: 'Acme.Lab.Other' } });
  await stage.succeed(vm, 10);
  await stage.look(11);
  expect(await stage.step(first, vm)).toMatchObject({ state: 'soaking' });
  expect(await stage.step(second, vm)).toMatchObject({ state: 'parked', cause: 'vm-busy' });
  expect(await stage.rollout(second)).toMatchObject({
    state: 'running',
    why: [{ code: 'vms_busy', ring: 0, params: { members: 1 } }],
  });
  await stage.pass(312);
  await stage.look(313);
  expect(await stage.step(first, vm)).toMatchObject({ state: 'succeeded' });
  expect(await stage.step(second, vm)).toMatchObject({ state: 'inFlight', touched: [{ name: 'other' }] });
});

test('RO-13 a VM with a busy step of another rollout is begun by the abort of that rollout', async () => {
  const [vm] = (await stage.givenFleet(1)) as [GivenVm];
  const first = await stage.givenRollout([vm]);
  await stage.pass(1);
  const second = await stage.givenRollout([vm], { change: { version: '1.2.0.0' } });
  await stage.pass(2);
  await abortRollout(stage.as(3), { id: first });
  await stage.look(3);
  await stage.look(4);
  expect(await stage.step(first, vm)).toMatchObject({ state: 'unreached' });
  expect(await stage.step(second, vm)).toMatchObject({
    state: 'inFlight',
    touched: [{ version: '1.2.0.0', before: { version: '1.0.0.0' } }],
  });
});

test('RO-14 recalled and parked members are superseded too, and the earlier rollout finishes', async () => {
  const vms = await stage.givenFleet(2, { tags });
  await stage.fold(0);
  const first = await stage.givenRollout(vms);
  await stage.pass(1);
  const open = await onlyOpen(first, vms);
  const parked = vms.find((vm) => vm !== open) as GivenVm;
  const second = await stage.givenRollout(vms, {
    change: { version: '1.2.0.0' },
    acceptedOverlap: [first],
    startedAt: stage.at(2),
  });
  await stage.look(3);
  expect(await stage.step(first, parked)).toMatchObject({ state: 'skipped', cause: 'superseded' });
  await stage.succeed(open, 10);
  await stage.look(11);
  expect(await stage.rollout(first)).toMatchObject({ state: 'finished' });
  expect(await stage.counts(first)).toEqual({ members: 2, succeeded: 1, skipped: 1 });
  await stage.look(12);
  expect(await stage.counts(second)).toEqual({ members: 2, inFlight: 1, parked: 1 });
});

test('RO-14 an overlap that was not accepted supersedes nothing', async () => {
  const vms = await stage.givenFleet(2);
  const first = await stage.givenRollout(vms, { rings: [{ size: 2, inFlight: { count: 1 } }] });
  await stage.pass(1);
  await stage.givenRollout(vms, { change: { version: '1.2.0.0' }, startedAt: stage.at(2) });
  await stage.succeed(await onlyOpen(first, vms), 3);
  await stage.look(4);
  await stage.look(5);
  const steps = await stage.steps(first);
  expect(steps.filter(({ cause }) => cause === 'superseded')).toEqual([]);
});
