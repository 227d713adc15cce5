import { beforeEach, describe, expect, test } from 'vitest';
import { holdVm } from '#server/domain/holds/index.ts';
import { removeVm } from '#server/domain/vm-lifecycle/index.ts';
import type { GivenVm } from '#server/testing/fleet.ts';
import { abortRollout } from '../abort-rollout.ts';
import { type RolloutStage, rolloutStage } from '../testing/rollout-stage.ts';

const compare = { minEffectShare: 100, minPairs: 50, onTooFew: 'goOn' } as const;
let stage: RolloutStage;

beforeEach(async () => {
  stage = await rolloutStage();
});

/** Creates a rollout whose only VM of the first ring is in flight, with the VM that is watched together with it. */
async function givenPair(gates: object = {}) {
  const vms = await stage.givenFleet(3);
  const id = await stage.givenRollout(vms, { rings: [{ size: 1, soakSeconds: 300, compare, ...gates }, { size: 2 }] });
  await stage.pass(1);
  const [changed] = (await stage.vmsIn(id, vms, 'inFlight')) as [GivenVm];
  const pairVmId = (await stage.step(id, changed))?.pairVmId;
  const control = vms.find(({ vmId }) => vmId === pairVmId) as GivenVm;
  return { id, vms, changed, control };
}

const resultOf = async (id: string, vm: GivenVm) => (await stage.step(id, vm))?.pairResult;

describe('RO-24 a pair', () => {
  test('is invalid when the changed VM is overtaken', async () => {
    const { id, changed } = await givenPair();
    await changed.declare('probe', { version: '1.2.0.0' });
    await stage.look(10);
    await stage.look(11);
    expect(await resultOf(id, changed)).toBe('void');
    expect((await stage.rings(id))[0]?.counts).toMatchObject({ pairs: 1, pairsVoid: 1, pairsOpen: 0 });
  });

  test('is invalid when the control is deleted', async () => {
    const { id, changed, control } = await givenPair();
    await removeVm(stage.as(5), { vmId: control.vmId });
    await stage.look(10);
    expect(await resultOf(id, changed)).toBe('void');
  });

  test('is invalid when the rollout is aborted', async () => {
    const { id, changed } = await givenPair();
    await changed.deliver(stage.at(2));
    await abortRollout(stage.as(5), { id });
    await stage.look(6);
    expect(await resultOf(id, changed)).toBe('void');
    expect((await stage.rings(id))[0]?.counts).toMatchObject({ pairsVoid: 1, pairsOpen: 0 });
  });

  test('counts for neither VM when both fail in one pass', async () => {
    const { id, changed, control } = await givenPair();
    await control.deliver(stage.at(5));
    await stage.report(control, 5, { status: 'error', version: '1.0.0.0', sequenceNumber: 1 });
    await stage.fail(changed, 5);
    await stage.look(6);
    expect(await resultOf(id, changed)).toBe('both');
    expect((await stage.rings(id))[0]?.counts).toMatchObject({ changedFirst: 0, controlFirst: 0, pairsBoth: 1 });
  });

  test('is drawn only from VMs that are healthy and not on hold', async () => {
    const vms = await stage.givenFleet(4);
    const [, ...others] = vms as [GivenVm, ...GivenVm[]];
    for (const vm of others.slice(0, 2)) await holdVm(stage.as(0), { vmId: vm.vmId, reason: 'maintenance' });
    const held = others.slice(0, 2).map(({ vmId }) => vmId);
    const id = await stage.givenRollout(vms, { rings: [{ size: 2, compare }, { size: 2 }] });
    await stage.pass(1);
    for (const { pairVmId } of await stage.steps(id)) expect(held).not.toContain(pairVmId);
  });

  test('is not drawn where the ring does not compare, or where no later ring has members', async () => {
    const vms = await stage.givenFleet(3);
    const plain = await stage.givenRollout(vms.slice(0, 2), { rings: [{ size: 1 }, { size: 1 }] });
    const last = await stage.givenRollout(vms.slice(2), { rings: [{ size: 1, compare }] });
    await stage.pass(1);
    await stage.pass(2);
    for (const id of [plain, last]) {
      expect((await stage.steps(id)).map(({ pairVmId }) => pairVmId)).toEqual([null]);
    }
    expect((await stage.rings(last))[0]?.verdicts).toMatchObject([{ gate: 'compare', code: 'compare_none' }]);
  });
});

test('RO-26 a ring does not pass before its pairs are resolved, and then says how many there were', async () => {
  const { id, changed } = await givenPair();
  await stage.succeed(changed, 10);
  await stage.look(11);
  expect((await stage.rollout(id)).why).toMatchObject([
    { code: 'pairs_too_few', ring: 0, params: { pairs: 0, needed: 1 } },
    { code: 'steps_open' },
  ]);
  await stage.look(320);
  await stage.look(321);
  expect(await resultOf(id, changed)).toBe('neither');
  expect((await stage.rings(id)).map(({ state }) => state)).toEqual(['passed', 'open']);
});

test('RO-26 too few pairs pause the rollout where it says so', async () => {
  const { id, changed } = await givenPair({ compare: { ...compare, onTooFew: 'pause' } });
  await stage.succeed(changed, 10);
  await stage.look(11);
  await removeControls(id);
  await stage.look(320);
  await stage.look(321);
  expect(await stage.rollout(id)).toMatchObject({ state: 'paused', why: [{ code: 'pairs_too_few_paused' }] });
});

/** Deletes the VMs that are watched together with changed ones, so that their pairs decide nothing. */
async function removeControls(id: string): Promise<void> {
  for (const { pairVmId } of await stage.steps(id)) {
    if (pairVmId !== null) await removeVm(stage.as(20), { vmId: pairVmId });
  }
}
