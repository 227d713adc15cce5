import { beforeAll, beforeEach, expect, test } from 'vitest';
import type { GivenVm } from '#server/testing/fleet.ts';
import { type RolloutStage, rolloutStage } from '../testing/rollout-stage.ts';
import { failureAfter } from './step-failure.ts';

let stage: RolloutStage;
/** When a test begins, in seconds. Time only moves forward. */
let start = 0;

beforeAll(async () => {
  stage = await rolloutStage();
});

beforeEach(() => {
  start += 1_000;
});

async function givenOne(): Promise<GivenVm> {
  return (await stage.givenFleet(1))[0] as GivenVm;
}

const enable12 = { failed: { state: 'failed', command: 'enable', exitCode: 12 } } as const;
const what = {
  ...{ extension: 'probe', handler: 'Acme.Lab.Probe', version: '1.1.0.0' },
  ...{ command: 'enable', exitCode: 12 },
};

test('a failed step notes its command, its exit code and the message that the handler reported with it', async () => {
  const [one, other] = [await givenOne(), await givenOne()];
  const id = await stage.givenRollout([one, other]);
  await stage.pass(start + 1);
  await stage.fail(one, start + 10, { ...enable12, message: 'port_in_use' });
  await stage.succeed(other, start + 10, enable12);
  await stage.look(start + 11);
  expect(await stage.step(id, one)).toMatchObject({
    ...{ state: 'failed', cause: 'exit', failure: { ...what, messageId: 'port_in_use' } },
  });
  // The status of the other VM reports success, so that its message does not explain the failure.
  expect(await stage.step(id, other)).toMatchObject({
    ...{ state: 'failed', cause: 'exit', failure: { ...what, messageId: null } },
  });
});

test('a status that reports an error is the cause with its message', async () => {
  const vm = await givenOne();
  const id = await stage.givenRollout([vm]);
  await stage.pass(start + 1);
  await stage.fail(vm, start + 10, { message: 'disk_full' });
  await stage.look(start + 11);
  const failure = { ...what, command: null, exitCode: null, messageId: 'disk_full' };
  expect(await stage.step(id, vm)).toMatchObject({ state: 'failed', cause: 'status', failure });
});

test('RO-32 a VM whose earlier goal is restored keeps what failed', async () => {
  const vm = await givenOne();
  const id = await stage.givenRollout([vm], { onStepFailure: 'revert' });
  await stage.pass(start + 1);
  await stage.fail(vm, start + 10, enable12);
  await stage.look(start + 11);
  expect(await stage.step(id, vm)).toMatchObject({ state: 'reverting', failure: { exitCode: 12 } });
  await stage.succeed(vm, start + 20, { version: '1.0.0.0', sequenceNumber: 3 });
  await stage.look(start + 21);
  expect(await stage.step(id, vm)).toMatchObject({
    ...{ state: 'reverted', cause: 'exit', failure: { ...what, messageId: null } },
  });
});

test('RO-20 a later attempt that succeeds leaves no failure', async () => {
  const vm = await givenOne();
  const retry = { times: 1, afterSeconds: 5, causes: ['exit'] };
  const id = await stage.givenRollout([vm], { retry });
  await stage.pass(start + 1);
  await stage.fail(vm, start + 10, enable12);
  await stage.look(start + 11);
  expect(await stage.step(id, vm)).toMatchObject({ state: 'retrying', failure: { command: 'enable' } });
  await stage.look(start + 20);
  await stage.succeed(vm, start + 30, { sequenceNumber: 3 });
  await stage.look(start + 31);
  expect(await stage.step(id, vm)).toMatchObject({ state: 'succeeded', failure: null });
});

test('a silent agent names the handler, and no command', () => {
  const failure = { ...what, messageId: 'port_in_use' };
  const step = { state: 'inFlight', failure: null } as const;
  expect(failureAfter(step, { state: 'failed', cause: 'silent' }, failure)).toEqual({
    ...{ extension: 'probe', handler: 'Acme.Lab.Probe', version: '1.1.0.0' },
    ...{ command: null, exitCode: null, messageId: null },
  });
});
