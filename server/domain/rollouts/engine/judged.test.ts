import { beforeEach, describe, expect, test } from 'vitest';
import { extensions, healthChecks } from '#db/schema/index.ts';
import type { GivenVm } from '#server/testing/fleet.ts';
import { pauseRollout } from '../pause-rollout.ts';
import { resumeRollout } from '../resume-rollout.ts';
import { type RolloutStage, rolloutStage } from '../testing/rollout-stage.ts';

let stage: RolloutStage;
let vm: GivenVm;

beforeEach(async () => {
  stage = await rolloutStage();
  [vm] = (await stage.givenFleet(1)) as [GivenVm];
});

describe('RO-17 a step has succeeded', () => {
  test('when it is delivered, if it changes only a policy', async () => {
    const change = { version: null, timeouts: { enable: 90 } };
    const id = await stage.givenRollout([vm], { planned: 'policy', change, rings: [{ size: 1, soakSeconds: 300 }] });
    await stage.pass(1);
    expect(await stage.step(id, vm)).toMatchObject({ state: 'inFlight' });
    await stage.look(5);
    expect(await stage.counts(id)).toEqual({ members: 1, inFlight: 1 });
    await vm.deliver(stage.at(10));
    await stage.look(11);
    expect(await stage.counts(id)).toEqual({ members: 1, succeeded: 1 });
    expect(await stage.rollout(id)).toMatchObject({ state: 'finished' });
  });

  test('when a removed extension is gone', async () => {
    const id = await stage.givenRollout([vm], { planned: 'remove', change: { kind: 'remove', version: null } });
    await stage.pass(1);
    await vm.deliver(stage.at(2));
    await stage.look(3);
    expect(await stage.counts(id)).toEqual({ members: 1, inFlight: 1 });
    await stage.report(vm, 10, { version: '1.0.0.0', state: 'removed' });
    await stage.look(11);
    expect(await stage.step(id, vm)).toMatchObject({ state: 'succeeded' });
    expect(JSON.parse((await stage.head(vm)).text).extensions).toEqual([]);
  });

  test('when a disabled extension is disabled', async () => {
    const change = { version: null, state: 'disabled' as const };
    const id = await stage.givenRollout([vm], { planned: 'state', change });
    await stage.pass(1);
    await stage.succeed(vm, 10, { version: '1.0.0.0', state: 'disabled' });
    await stage.look(11);
    expect(await stage.counts(id)).toEqual({ members: 1, succeeded: 1 });
  });

  test('when every extension that it touched is healthy', async () => {
    const other = { handler: 'Acme.Lab.Other', extension: 'other', onAbsent: 'install' as const };
    const id = await stage.givenRollout([vm], { planned: 'install', change: other });
    await stage.pass(1);
    expect(await stage.step(id, vm)).toMatchObject({ touched: [{ name: 'other', before: null, sequenceNumber: 1 }] });
    // The extension that the step did not touch decides nothing.
    await vm.deliver(stage.at(5));
    await stage.report(vm, 5, { version: '1.0.0.0', sequenceNumber: 1 });
    await stage.look(6);
    expect(await stage.counts(id)).toEqual({ members: 1, inFlight: 1 });
    await stage.report(vm, 10, { extension: 'other', sequenceNumber: 1 });
    await stage.look(11);
    expect(await stage.counts(id)).toEqual({ members: 1, succeeded: 1 });
  });

  test('not before its VM health is evaluated again', async () => {
    const id = await stage.givenRollout([vm]);
    await stage.pass(1);
    await stage.succeed(vm, 10);
    const mark = { vmId: vm.vmId, dueAt: new Date(0) };
    await stage.db.insert(healthChecks).values(mark).onConflictDoUpdate({ target: healthChecks.vmId, set: mark });
    await stage.look(11);
    expect(await stage.step(id, vm)).toMatchObject({ state: 'inFlight', dueAt: stage.at(13) });
    await stage.fold(12);
    await stage.pass(13);
    expect(await stage.counts(id)).toEqual({ members: 1, succeeded: 1 });
  });
});

test('RO-17 the soak begins again when the VM does not stay healthy', async () => {
  const id = await stage.givenRollout([vm], { rings: [{ size: 1, soakSeconds: 300 }] });
  await stage.pass(1);
  await stage.succeed(vm, 10);
  await stage.look(11);
  await stage.report(vm, 200, { status: 'transitioning' });
  await stage.look(201);
  expect(await stage.step(id, vm)).toMatchObject({ state: 'inFlight', breaks: 1, healthyAt: null });
  await stage.report(vm, 250);
  await stage.look(251);
  expect(await stage.step(id, vm)).toMatchObject({ state: 'soaking', breaks: 1 });
  await stage.look(400);
  expect(await stage.counts(id)).toEqual({ members: 1, soaking: 1 });
  await stage.look(560);
  expect(await stage.counts(id)).toEqual({ members: 1, succeeded: 1 });
});

test('RO-18 a VM that did not stay healthy three times has failed', async () => {
  const id = await stage.givenRollout([vm], { rings: [{ size: 1, soakSeconds: 300 }] });
  await stage.pass(1);
  await vm.deliver(stage.at(2));
  for (let n = 1; n <= 3; n += 1) {
    await stage.report(vm, n * 100);
    await stage.look(n * 100 + 1);
    expect(await stage.step(id, vm)).toMatchObject({ state: 'soaking', breaks: n - 1 });
    await stage.report(vm, n * 100 + 50, { status: 'transitioning' });
    await stage.look(n * 100 + 51);
  }
  expect(await stage.step(id, vm)).toMatchObject({ state: 'failed', cause: 'unsteady', breaks: 3 });
  expect((await stage.rings(id))[0]?.counts).toMatchObject({ failed: 1, soaking: 0, inFlight: 0 });
});

test('RO-18 a failure is final: a VM that recovers keeps it', async () => {
  const id = await stage.givenRollout([vm]);
  await stage.pass(1);
  await stage.fail(vm, 10);
  await stage.look(11);
  await stage.report(vm, 20);
  await stage.look(21);
  expect(await stage.step(id, vm)).toMatchObject({ state: 'failed', cause: 'status', decidedAt: stage.at(11) });
  expect(await stage.counts(id)).toEqual({ members: 1, failed: 1 });
});

test('RO-19 a delivered VM without a report is decided by the end of its time', async () => {
  const id = await stage.givenRollout([vm], { rings: [{ size: 1, settleSeconds: 60 }] });
  await stage.pass(1);
  await vm.deliver(stage.at(10));
  await stage.fold(11);
  await stage.look(12);
  const [{ commands } = { commands: null }] = await stage.db.select().from(extensions);
  // The timeouts of the commands, the time for the status, and the time to settle.
  const end = 10 + (commands ?? []).length * 300 + 300 + 60;
  // Every look is followed by one at the step's next time, until it is decided.
  for (let n = 0; (await stage.step(id, vm))?.state === 'inFlight'; n += 1) {
    const dueAt = (await stage.step(id, vm))?.dueAt as Date;
    expect(dueAt.getTime()).toBeLessThanOrEqual(stage.at(end).getTime());
    expect(n).toBeLessThan(20);
    await stage.pass((dueAt.getTime() - stage.at(0).getTime()) / 1_000);
  }
  expect(await stage.step(id, vm)).toMatchObject({ state: 'failed', cause: 'not-healthy', decidedAt: stage.at(end) });
});

describe('RO-20 a retry', () => {
  const retry = { times: 2, afterSeconds: 60, causes: ['status'] };

  test('comes after twice the time, and the step is counted once', async () => {
    const id = await stage.givenRollout([vm], { retry, rings: [{ size: 1, errors: { count: 1 } }] });
    await stage.pass(1);
    await stage.fail(vm, 10);
    await stage.look(11);
    expect(await stage.step(id, vm)).toMatchObject({ state: 'retrying', attempt: 1, dueAt: stage.at(71) });
    // An attempt that waits is not a failure yet.
    expect(await stage.rollout(id)).toMatchObject({ state: 'running' });
    await stage.pass(71);
    await stage.fail(vm, 80, { sequenceNumber: 3 });
    await stage.look(81);
    expect(await stage.step(id, vm)).toMatchObject({ state: 'retrying', attempt: 2, dueAt: stage.at(201) });
    await stage.pass(201);
    await stage.fail(vm, 210, { sequenceNumber: 4 });
    await stage.look(211);
    expect(await stage.step(id, vm)).toMatchObject({ state: 'failed', attempt: 3, cause: 'status' });
    expect(await stage.counts(id)).toEqual({ members: 1, failed: 1 });
    expect((await stage.rollout(id)).why).toMatchObject([{ code: 'errors_count', params: { failed: 1, decided: 1 } }]);
    expect((await stage.published(id, vm)).map(({ cause }) => cause.action)).toEqual([
      'rollout.step',
      'rollout.retry',
      'rollout.retry',
    ]);
  });

  test('does not follow a failure of another cause', async () => {
    const id = await stage.givenRollout([vm], { retry: { ...retry, causes: ['exit'] } });
    await stage.pass(1);
    await stage.fail(vm, 10);
    await stage.look(11);
    expect(await stage.step(id, vm)).toMatchObject({ state: 'failed', attempt: 1 });
  });

  test('that no agent fetches keeps the failure before it', async () => {
    const id = await stage.givenRollout([vm], { retry });
    await stage.pass(1);
    await stage.fail(vm, 10);
    await stage.look(11);
    await stage.pass(71);
    expect(await stage.step(id, vm)).toMatchObject({ state: 'inFlight', attempt: 2 });
    await stage.look(372);
    expect(await stage.step(id, vm)).toMatchObject({ state: 'failed', attempt: 2, cause: 'status' });
  });

  test('does not begin in a paused rollout', async () => {
    const id = await stage.givenRollout([vm], { retry });
    await stage.pass(1);
    await stage.fail(vm, 10);
    await stage.look(11);
    await pauseRollout(stage.as(20), { id });
    await stage.look(60);
    expect(await stage.step(id, vm)).toMatchObject({ state: 'retrying' });
    await stage.look(80);
    expect(await stage.step(id, vm)).toMatchObject({ state: 'failed', attempt: 1 });
    expect(await stage.published(id, vm)).toHaveLength(1);
    await resumeRollout(stage.as(90), { id });
    await stage.look(91);
    expect(await stage.rollout(id)).toMatchObject({ state: 'finished' });
  });
});
