import { eq } from 'drizzle-orm';
import { beforeEach, describe, expect, test } from 'vitest';
import { handlerVersions, rollouts } from '#db/schema/index.ts';
import type { GivenVm } from '#server/testing/fleet.ts';
import { outcomeOf } from '#server/testing/records.ts';
import { abortRollout } from '../abort-rollout.ts';
import { advanceRollout } from '../advance-rollout.ts';
import { pauseRollout } from '../pause-rollout.ts';
import { abandonPlan } from '../planning/abandon-plan.ts';
import { checkRollout } from '../planning/check-rollout.ts';
import { resumeRollout } from '../resume-rollout.ts';
import { type RolloutStage, rolloutStage } from '../testing/rollout-stage.ts';

let stage: RolloutStage;

beforeEach(async () => {
  stage = await rolloutStage();
});

const inFlight = (id: string, vms: readonly GivenVm[]) =>
  stage.vmsIn(id, vms, 'inFlight') as Promise<[GivenVm, GivenVm]>;

test('RO-22 success that can no longer be reached halts immediately, with its numbers', async () => {
  const vms = await stage.givenFleet(6);
  const success = { share: 9_000, atLeast: 1 };
  const id = await stage.givenRollout(vms, { rings: [{ size: 4, inFlight: { count: 2 }, success }, { size: 2 }] });
  await stage.pass(1);
  const [bad] = await inFlight(id, vms);
  await stage.fail(bad, 10);
  await stage.look(11);
  expect(await stage.rollout(id)).toMatchObject({
    state: 'paused',
    pausedBy: 'gate',
    why: [{ code: 'success_unreachable', ring: 0, params: { succeeded: 0, needed: 4, members: 4, failed: 1 } }],
  });
  expect((await stage.rings(id))[0]).toMatchObject({
    state: 'halted',
    verdicts: [{ gate: 'success', verdict: 'halt', code: 'success_unreachable' }],
  });
});

test('RO-21 the error gate halts with its numbers, and they are in the activity', async () => {
  const vms = await stage.givenFleet(6);
  const id = await stage.givenRollout(vms, { rings: [{ size: 6, errors: { share: 5_000, atLeast: 3 } }] });
  await stage.pass(1);
  const [a, b, c, d] = await stage.vmsIn(id, vms, 'inFlight');
  for (const vm of [a, b]) await stage.fail(vm as GivenVm, 10);
  await stage.look(11);
  // Two decided are fewer than the three that the gate needs.
  expect(await stage.rollout(id)).toMatchObject({ state: 'running' });
  for (const vm of [c, d]) await stage.succeed(vm as GivenVm, 20);
  await stage.look(21);
  // Exactly half of the decided failed.
  expect(await stage.rollout(id)).toMatchObject({ state: 'running' });
  const [last] = await inFlight(id, vms);
  await stage.fail(last, 30);
  await stage.look(31);
  const params = { failed: 3, decided: 5, limit: '50', atLeast: 3 };
  expect(await stage.rollout(id)).toMatchObject({
    state: 'paused',
    why: [{ code: 'errors_percent', ring: 0, params }],
  });
  expect(await stage.activity(id, 'rollout.halt')).toMatchObject([
    { details: { rings: [{ ring: 0, counts: { decided: 5, failed: 3, members: 6 } }], why: [{ params }] } },
  ]);
});

test('RO-23 two gates that halt in one pass pause the rollout once, with both reasons', async () => {
  const vms = await stage.givenFleet(4);
  const id = await stage.givenRollout(vms, {
    rings: [{ size: 2, errors: { count: 1 }, success: { share: 10_000, atLeast: 1 } }, { size: 2 }],
  });
  await stage.pass(1);
  for (const vm of await inFlight(id, vms)) await stage.fail(vm, 10);
  await stage.look(11);
  const { state, why } = await stage.rollout(id);
  expect(state).toBe('paused');
  expect(why.map(({ code }) => code)).toEqual(['errors_count', 'success_unreachable']);
  expect(await stage.activity(id, 'rollout.halt')).toHaveLength(1);
  expect(await stage.activity(id, 'rollout.ring-pass')).toHaveLength(0);
});

test('RO-23 two rings that fail together pause the rollout once, and a ring that passed is judged on', async () => {
  const vms = await stage.givenFleet(4);
  const gates = { errors: { count: 2 }, success: { share: 5_000, atLeast: 1 } };
  const id = await stage.givenRollout(vms, {
    rings: [
      { size: 3, ...gates },
      { size: 1, errors: { count: 1 } },
    ],
  });
  await stage.pass(1);
  const [a, b, c] = (await stage.vmsIn(id, vms, 'inFlight')) as [GivenVm, GivenVm, GivenVm];
  await stage.fail(c, 10);
  await stage.succeed(a, 10);
  await stage.look(11);
  expect((await stage.rings(id)).map(({ state }) => state)).toEqual(['open', 'waiting']);
  await advanceRollout(stage.as(12), { id, ring: 1, reason: 'test' });
  await stage.look(13);
  const last = (await stage.vmsIn(id, vms, 'inFlight')).find((vm) => vm !== b) as GivenVm;
  for (const vm of [b, last]) await stage.fail(vm, 20);
  await stage.look(21);
  const { state, why } = await stage.rollout(id);
  expect(state).toBe('paused');
  expect(why.map(({ code, ring }) => `${code} ${ring}`)).toEqual([
    'errors_count 0',
    'success_unreachable 0',
    'errors_count 1',
  ]);
  expect((await stage.rings(id)).map((ring) => ring.state)).toEqual(['halted', 'halted']);
  expect(await stage.activity(id, 'rollout.halt')).toHaveLength(1);
});

describe('RO-23 a pause, an abort and the last status in one instant', () => {
  const acts = {
    pause: (id: string) => pauseRollout(stage.as(11), { id }),
    abort: (id: string) => abortRollout(stage.as(11), { id }),
    look: () => stage.look(11),
  };
  test.each<[(keyof typeof acts)[], string]>([
    [['pause', 'abort', 'look'], 'aborted'],
    [['pause', 'look', 'abort'], 'aborted'],
    [['abort', 'look'], 'aborted'],
    [['look', 'pause', 'abort'], 'aborted'],
    [['pause', 'look'], 'paused'],
    [['look', 'pause'], 'paused'],
  ])('in the order %s end in one state', async (order, state) => {
    const vms = await stage.givenFleet(2);
    const id = await stage.givenRollout(vms, { rings: [{ size: 1, errors: { count: 1 } }, { size: 1 }] });
    await stage.pass(1);
    const [bad] = await inFlight(id, vms);
    await stage.fail(bad, 10);
    for (const act of order) await acts[act](id);
    await stage.look(12);
    await stage.look(13);
    expect(await stage.rollout(id)).toMatchObject({ state });
    expect(await stage.counts(id)).toMatchObject({ members: 2, failed: 1 });
    expect(await stage.steps(id)).toHaveLength(1);
  });
});

test('RO-29 a resume overrules the halt, and the error gate counts from zero', async () => {
  const vms = await stage.givenFleet(3);
  const id = await stage.givenRollout(vms, { rings: [{ size: 3, inFlight: { count: 1 }, errors: { count: 1 } }] });
  await stage.pass(1);
  await stage.fail((await inFlight(id, vms))[0], 10);
  await stage.look(11);
  expect(await outcomeOf(resumeRollout(stage.as(12), { id }))).toBe('conflict verdicts_open');
  await resumeRollout(stage.as(12), { id, overrule: [{ ring: 0, gate: 'errors' }], reason: 'known' });
  await stage.pass(12);
  expect(await stage.counts(id)).toEqual({ members: 3, failed: 1, inFlight: 1, queued: 1 });
  await stage.fail((await inFlight(id, vms))[0], 20);
  await stage.look(21);
  expect(await stage.rollout(id)).toMatchObject({
    state: 'paused',
    why: [{ code: 'errors_count', params: { failed: 1, decided: 1 } }],
  });
  expect(await stage.activity(id, 'rollout.halt')).toHaveLength(2);
});

describe('RO-19 a rollout without progress', () => {
  test('pauses, and its VMs keep waiting', async () => {
    const [one] = (await stage.givenFleet(1)) as [GivenVm];
    const busy = await stage.givenRollout([one], { rings: [{ size: 1, soakSeconds: 9_000 }] });
    await stage.pass(1);
    const id = await stage.givenRollout([one], { noProgressSeconds: 3_600, change: { version: '1.2.0.0' } });
    await stage.succeed(one, 10);
    await stage.look(3_599);
    expect(await stage.rollout(id)).toMatchObject({ state: 'running', dueAt: stage.at(3_600) });
    await stage.pass(3_600);
    expect(await stage.rollout(id)).toMatchObject({
      state: 'paused',
      pausedBy: 'portal',
      why: [{ code: 'no_progress' }],
    });
    expect(await stage.rollout(busy)).toMatchObject({ state: 'running' });
    expect(await stage.activity(id, 'rollout.halt')).toHaveLength(1);
    await resumeRollout(stage.as(4_000), { id });
    await stage.pass(4_001);
    expect(await stage.rollout(id)).toMatchObject({ state: 'running', progressAt: stage.at(4_000) });
  });

  test('does not pause while it waits for a person or a bake', async () => {
    const vms = await stage.givenFleet(4);
    const waits = await stage.givenRollout(vms.slice(0, 2), {
      noProgressSeconds: 60,
      rings: [{ size: 1 }, { size: 1, approval: true }],
    });
    const bakes = await stage.givenRollout(vms.slice(2), {
      noProgressSeconds: 60,
      rings: [{ size: 1, bakeSeconds: 7_200 }, { size: 1 }],
    });
    await stage.pass(1);
    await stage.pass(2);
    for (const id of [waits, bakes]) await stage.succeed((await inFlight(id, vms))[0], 10);
    await stage.look(11);
    await stage.look(3_600);
    expect(await stage.rollout(waits)).toMatchObject({ state: 'running', why: [{ code: 'ring_approval', ring: 1 }] });
    expect(await stage.rollout(bakes)).toMatchObject({
      state: 'running',
      why: [{ code: 'ring_bake', ring: 0, at: stage.at(7_211).toISOString() }],
      next: { code: 'ring_opens', ring: 1 },
    });
    await stage.look(7_212);
    expect((await stage.rings(bakes)).map(({ state }) => state)).toEqual(['passed', 'open']);
  });
});

describe('a withdrawn version', () => {
  const withdraw = () =>
    stage.db.update(handlerVersions).set({ state: 'withdrawn' }).where(eq(handlerVersions.version, '1.1.0.0'));

  test('pauses the rollout; what no agent has fetched is taken back, and the others continue', async () => {
    const vms = await stage.givenFleet(3);
    const id = await stage.givenRollout(vms, { rings: [{ size: 3, inFlight: { count: 2 } }] });
    await stage.pass(1);
    const [told, untold] = await inFlight(id, vms);
    await told.deliver(stage.at(2));
    await withdraw();
    await stage.look(3);
    expect(await stage.rollout(id)).toMatchObject({
      state: 'paused',
      pausedBy: 'portal',
      why: [{ code: 'version_withdrawn', params: { handler: 'Acme.Lab.Probe', version: '1.1.0.0' } }],
    });
    expect(await stage.step(id, untold)).toMatchObject({ state: 'recalled' });
    expect(JSON.parse((await stage.head(untold)).text).extensions).toMatchObject([{ version: '1.0.0.0' }]);
    await stage.report(told, 10);
    await stage.look(11);
    expect(await stage.counts(id)).toEqual({ members: 3, succeeded: 1, queued: 2 });
    expect(await outcomeOf(resumeRollout(stage.as(12), { id }))).toBe('conflict version_withdrawn');
  });
});

test('a database that was restored pauses the rollout, which takes back what no agent has fetched', async () => {
  const [vm] = (await stage.givenFleet(1)) as [GivenVm];
  const id = await stage.givenRollout([vm]);
  await stage.pass(1);
  await stage.db.update(rollouts).set({ epoch: 'before the restore' });
  await stage.look(2);
  expect(await stage.rollout(id)).toMatchObject({ state: 'paused', pausedBy: 'portal', why: [{ code: 'restored' }] });
  expect(await stage.step(id, vm)).toMatchObject({ state: 'recalled' });
  expect(await stage.activity(id, 'rollout.halt')).toMatchObject([
    { details: { rings: [], why: [{ code: 'restored' }] } },
  ]);
  expect((await resumeRollout(stage.as(3), { id })).state).toBe('checking');
  await stage.pass(4);
  expect(await stage.counts(id)).toEqual({ members: 1, queued: 1 });
  expect(await checkRollout(stage.services, id, stage.at(5))).toBe('done');
  expect(await stage.rollout(id)).toMatchObject({ state: 'running', epoch: 'test', startedAt: stage.at(0) });
  await stage.pass(6);
  expect(await stage.counts(id)).toEqual({ members: 1, inFlight: 1 });
});

test('after a restore, a rollout whose waiting members moved stays paused; the next resume skips these members', async () => {
  const vms = await stage.givenFleet(3);
  const id = await stage.givenRollout(vms, { rings: [{ size: 3, inFlight: { count: 1 } }] });
  await stage.pass(1);
  const [begun] = (await stage.vmsIn(id, vms, 'inFlight')) as [GivenVm];
  await stage.succeed(begun, 2);
  await stage.db.update(rollouts).set({ epoch: 'before the restore' });
  await stage.look(3);
  const [moved, other] = vms.filter((vm) => vm !== begun) as [GivenVm, GivenVm];
  await moved.declare('probe', { version: '1.2.0.0' });
  await resumeRollout(stage.as(4), { id });
  await checkRollout(stage.services, id, stage.at(5));
  const params = { cause: 'restored', moved: 1, allowed: 0, 'update-none': 1 };
  expect(await stage.rollout(id)).toMatchObject({
    ...{ state: 'paused', pausedBy: 'portal', epoch: 'test' },
    why: [{ code: 'plan_moved_on', params }],
  });
  expect((await resumeRollout(stage.as(6), { id })).state).toBe('running');
  await stage.pass(7);
  await stage.succeed(other, 8);
  await stage.look(9);
  expect(await stage.counts(id)).toEqual({ members: 3, succeeded: 2, skipped: 1 });
});

test('after a restore, a rollout that cannot be checked stays paused', async () => {
  const [vm] = (await stage.givenFleet(1)) as [GivenVm];
  const id = await stage.givenRollout([vm]);
  await stage.db.update(rollouts).set({ state: 'checking' });
  await abandonPlan(stage.services, id, stage.at(1), new Error('unexpected'));
  expect(await stage.rollout(id)).toMatchObject({ state: 'paused', startedBy: 'Test', why: [{ code: 'plan_failed' }] });
});
