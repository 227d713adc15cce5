import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Context } from '#server/domain/context.ts';
import { holdVm, releaseHold } from '#server/domain/holds/index.ts';
import { type AgentDoor, openTestDoor } from '#server/testing/agent-door.ts';
import { testContext } from '#server/testing/context.ts';
import {
  bindChannel,
  getConductor,
  getResult,
  handOutNext,
  listInputQueues,
  listUnpublished,
  noteConductor,
  publishNext,
  queueExecution,
  readLog,
  settleDue,
  takeAnswers,
  unbindChannel,
} from './index.ts';
import { givenBoundVm, logOf, smallPlan } from './testing/bound-vm.ts';
import { givenMachine, resultOf } from './testing/machine.ts';

let admin: Context;
let door: AgentDoor;
beforeAll(async () => {
  const opened = await openTestDoor();
  door = opened.door;
  admin = await testContext({ services: opened.ctx, role: 'admin' });
  return () => door.close();
});

const later = (seconds: number): Context => ({ ...admin, now: new Date(Date.now() + seconds * 1_000) });
const rowsOf = async (vmId: string, executionId: string) =>
  (await readLog(admin, { vmId, executionId, row: 0 })).rows.map(({ kind, level, text }) => [kind, level, text]);

describe('a plan for the broker', () => {
  test('is the oldest of the VM, once, until it is answered', async () => {
    const vm = await givenBoundVm(admin);
    const [first, second] = [await vm.queue(), await vm.queue()];
    expect(await listUnpublished(admin)).toContain(vm.vmId);
    const published = await vm.publish();
    expect(published).toMatchObject({ executionId: first.id, planId: first.id, inputQueue: vm.channel.inputQueue });
    expect(JSON.parse(published?.text ?? '')).toMatchObject({ ID: first.id, Stamp: first.stamp });
    expect(await vm.publish()).toBeNull();
    expect(await listUnpublished(admin)).not.toContain(vm.vmId);
    await vm.result(first.id);
    expect(await listUnpublished(admin)).toContain(vm.vmId);
    expect((await vm.publish())?.executionId).toBe(second.id);
  });

  test('is given again while the broker has not confirmed it', async () => {
    const vm = await givenBoundVm(admin);
    const { id } = await vm.queue();
    expect((await publishNext(admin, vm.vmId))?.executionId).toBe(id);
    expect(await listUnpublished(admin)).toContain(vm.vmId);
    expect((await vm.publish())?.executionId).toBe(id);
    expect(await listUnpublished(admin)).not.toContain(vm.vmId);
  });

  test('waits during a hold', async () => {
    const vm = await givenBoundVm(admin);
    await vm.queue();
    await holdVm(admin, { vmId: vm.vmId, reason: 'Patch window' });
    expect(await vm.publish()).toBeNull();
    await releaseHold(admin, { vmId: vm.vmId });
    expect(await vm.publish()).not.toBeNull();
  });

  test('expires in the broker when the portal stops waiting for it', async () => {
    const vm = await givenBoundVm(admin);
    const { id } = await vm.queue(smallPlan, { timeoutSeconds: 100, validForSeconds: 60 });
    const published = await vm.publish();
    expect(published?.expiresAt).toEqual(new Date((await vm.get(id)).validUntil));
    const long = await givenBoundVm(admin);
    const other = await long.queue(smallPlan, { timeoutSeconds: 100 });
    expect((await long.publish())?.expiresAt.toISOString()).toBe((await long.get(other.id)).dueAt);
  });

  test('without an answer times out, and the next one is published', async () => {
    const vm = await givenBoundVm(admin);
    const [first, second] = [await vm.queue(smallPlan, { timeoutSeconds: 10 }), await vm.queue()];
    await vm.publish();
    await settleDue(later(16));
    expect(await vm.get(first.id)).toMatchObject({ state: 'timed-out' });
    expect((await vm.publish())?.executionId).toBe(second.id);
    await vm.result(first.id);
    expect(await vm.get(first.id)).toMatchObject({ state: 'timed-out', late: true });
  });

  test('MU-72 is never delivered over HTTPS, and at most one is open', async () => {
    const machine = await givenMachine(admin, door);
    const { vmId } = machine;
    await bindChannel(admin, { vmId });
    const { execution } = await queueExecution(admin, { vmId, plan: smallPlan });
    await queueExecution(admin, { vmId, plan: smallPlan });
    expect(await machine.next()).toBeNull();
    await publishNext(admin, vmId);
    expect(await handOutNext(admin, vmId)).toBeNull();
    expect(await machine.get(execution.id), 'it is not lost').toMatchObject({ state: 'delivered' });
    expect((await publishNext(admin, vmId))?.executionId, 'the same again').toBe(execution.id);
  });

  test('has a queue that the conductor declares', async () => {
    const before = new Date();
    const vm = await givenBoundVm(later(1));
    expect(await listInputQueues(admin, null)).toContain(vm.channel.inputQueue);
    expect(await listInputQueues(admin, before)).toContain(vm.channel.inputQueue);
    expect(await listInputQueues(later(10), later(10).now)).toEqual([]);
  });
});

describe('an answer over AMQP', () => {
  test('MU-18 names its plan in SourceID, in message_id or in correlation_id', async () => {
    for (const properties of [{ SourceID: true }, { messageId: true }, { correlationId: true }] as object[]) {
      const vm = await givenBoundVm(admin);
      const { id } = await vm.queue();
      await vm.publish();
      const [name = ''] = Object.keys(properties);
      const body = resultOf(id, name === 'SourceID' ? {} : { SourceID: undefined });
      expect(await vm.answer(body, name === 'SourceID' ? { messageId: 'x' } : { [name]: id })).toBe('taken');
      expect(await vm.get(id)).toMatchObject({ state: 'succeeded' });
      expect(JSON.parse((await getResult(admin, { vmId: vm.vmId, executionId: id })) ?? '')).toMatchObject({
        SourceID: id,
      });
    }
  });

  test('MU-18 keeps its digits and its other properties, and gets the action and the time of Annex', async () => {
    const vm = await givenBoundVm(admin);
    const { id } = await vm.queue();
    await vm.publish();
    const stock = resultOf(id, { Action: 'Execution:Result', Time: '2026-11-20 23:56:22', extra: true });
    await vm.answer(JSON.stringify(stock).replace('"hello w"', '12345678901234567890.10'));
    const text = (await getResult(admin, { vmId: vm.vmId, executionId: id })) ?? '';
    expect(text).toContain('12345678901234567890.10');
    expect(JSON.parse(text)).toMatchObject({ Action: 'Execute:Result', Time: '2026-11-20T23:56:22Z', extra: true });
  });

  test('in the form that Annex writes is stored unchanged', async () => {
    const vm = await givenBoundVm(admin);
    const { id } = await vm.queue();
    await vm.publish();
    const text = ` ${JSON.stringify(resultOf(id))}\n`;
    await vm.answer(text);
    expect(await getResult(admin, { vmId: vm.vmId, executionId: id })).toBe(text);
  });

  test.each<[what: string, body: unknown, outcome: string]>([
    ['no JSON', 'not json {', 'unreadable'],
    ['a list', [1], 'unreadable'],
    ['a text', '"x"', 'unreadable'],
    ['not UTF-8', Buffer.from([0xff, 0xfe, 0]), 'unreadable'],
    ['larger than a result', Buffer.alloc(17 * 1024 * 1024, ' '), 'unreadable'],
    ['of no plan', {}, 'unmatched'],
    ['of an unknown plan', resultOf('guessed'), 'unmatched'],
    ['of a plan whose ID contains NUL', resultOf('a\u0000'), 'unmatched'],
  ])('that is %s changes nothing', async (_, body, outcome) => {
    const vm = await givenBoundVm(admin);
    const { id } = await vm.queue();
    await vm.publish();
    expect(await vm.answer(body)).toBe(outcome);
    expect(await vm.get(id)).toMatchObject({ state: 'delivered' });
  });

  test('with properties or a message that the database rejects does not stop the answers after it', async () => {
    const vm = await givenBoundVm(admin);
    const { id } = await vm.queue();
    await vm.publish();
    expect(await vm.answer({}, { messageId: 'a\u0000', correlationId: '\u0000' })).toBe('unmatched');
    expect(await vm.answer({ ...resultOf(id), SourceID: '' }, { messageId: '\u0000', correlationId: id })).toBe(
      'taken',
    );
    const long = Array.from({ length: 1_000 }, () => randomUUID()).join('');
    expect(await vm.answer({ ...logOf(long), SourceID: id })).toBe('unreadable');
    expect(await vm.get(id)).toMatchObject({ state: 'succeeded' });
  });

  test('case 40: for a plan that went over HTTPS, or that was never published, changes nothing', async () => {
    const machine = await givenMachine(admin, door);
    const { id } = await machine.queue();
    await machine.next();
    const vm = await givenBoundVm(admin);
    const waiting = await vm.queue();
    expect([await vm.result(id), await vm.result(waiting.id)]).toEqual(['unmatched', 'unmatched']);
    expect([await machine.get(id), await vm.get(waiting.id)]).toMatchObject([
      { state: 'delivered' },
      { state: 'queued' },
    ]);
  });

  test('MU-18 that repeats the first is counted, in one batch and in several', async () => {
    const vm = await givenBoundVm(admin);
    const { id } = await vm.queue();
    await vm.publish();
    const answer = (Body: string) => ({
      ...{ bytes: Buffer.from(JSON.stringify(resultOf(id, { Body }))), messageId: id, correlationId: null },
    });
    await takeAnswers(admin, [answer('first'), answer('second'), answer('third')]);
    await takeAnswers(admin, [answer('fourth'), answer('fifth')]);
    expect(await vm.get(id)).toMatchObject({ state: 'succeeded', repeats: 4 });
    expect(await getResult(admin, { vmId: vm.vmId, executionId: id })).toContain('"first"');
  });

  test.each([[-1], [1.5], ['0'], [1e308], [undefined]])(
    'case 27: with ErrorCode %s fails its execution',
    async (ErrorCode) => {
      const vm = await givenBoundVm(admin);
      const { id } = await vm.queue();
      await vm.publish();
      for (let times = 0; times < 2; times += 1) expect(await vm.result(id, { ErrorCode })).toBe('taken');
      expect(await vm.get(id)).toMatchObject({
        ...{ state: 'failed', errorCode: null, repeats: 1, message: { id: 'execution.result-unreadable' } },
      });
    },
  );

  test.each<[what: string, outer: boolean, inner: boolean, isList: boolean, state: string]>([
    ['of a success', false, false, false, 'succeeded'],
    ['of a success, as a list', false, false, true, 'succeeded'],
    ['of a script that failed', false, true, false, 'failed'],
    ['of a script that failed, as a list', false, true, true, 'failed'],
    ['of a plan that cannot run', true, true, false, 'failed'],
  ])('MU-75 in format vCurrent, %s, leads to the same state as over HTTPS', async (_, ...shape) => {
    const [outer, inner, isList, state] = shape;
    const last = { IsException: inner, Result: 'r' };
    const body = { IsException: outer, Result: isList ? [{ IsException: false, Result: 'first' }, last] : last };
    const vm = await givenBoundVm(admin);
    const { id } = await vm.queue({ Scripts: [], Commands: [] });
    await vm.publish();
    expect(await vm.answer(body, { messageId: id })).toBe('taken');
    const machine = await givenMachine(admin, door);
    const other = await machine.queue({ Scripts: [], Commands: [] });
    await machine.next();
    const sent = { method: 'PUT', body: JSON.stringify(body) };
    expect((await machine.agent.call(`/executions/${other.id}/result`, sent)).status).toBe(204);
    const [here, there] = [await vm.get(id), await machine.get(other.id)];
    expect([here.state, here.errorCode, here.message]).toEqual([there.state, there.errorCode, there.message]);
    expect(here.state).toBe(state);
  });

  test('with a wrong code after the timeout is kept as a late result', async () => {
    const vm = await givenBoundVm(admin);
    const { id } = await vm.queue(smallPlan, { timeoutSeconds: 10 });
    await vm.publish();
    await settleDue(later(16));
    await vm.result(id, { ErrorCode: 'x' });
    expect(await vm.get(id)).toMatchObject({ state: 'timed-out', late: true });
  });

  test('with a log message begins the execution and is in the log once', async () => {
    const vm = await givenBoundVm(admin);
    const { id } = await vm.queue();
    await vm.publish();
    await vm.answer(logOf('a'), { messageId: 'a', correlationId: id });
    await vm.answer(logOf('b', { SourceID: id, Level: 'error' }));
    await vm.answer(logOf('a'), { correlationId: id });
    expect(await vm.answer(logOf('c', { SourceID: id, Level: 'loud' }))).toBe('unreadable');
    expect(await vm.get(id)).toMatchObject({ state: 'running', run: 1 });
    expect(await rowsOf(vm.vmId, id)).toEqual([
      ['log', 'info', 'message a'],
      ['log', 'error', 'message b'],
    ]);
  });
});

describe('the conductor', () => {
  test('is unknown until it reports, and its counts add up', async () => {
    expect(await getConductor(admin)).toBeNull();
    const connectedAt = new Date();
    await noteConductor(admin, { connectedAt, fault: null, unreadable: 2, unmatched: 0 });
    await noteConductor(admin, { connectedAt, fault: null, unreadable: 1, unmatched: 3 });
    expect(await getConductor(admin)).toMatchObject({
      ...{ isRunning: true, connectedAt, fault: null, unreadable: 3, unmatched: 3, rejectedAt: admin.now },
    });
    expect(await getConductor(later(120)), 'nothing was heard of it').toMatchObject({ isRunning: false });
  });

  test('is reported with the number of VMs that depend on it', async () => {
    const { boundVms: before = 0 } = (await getConductor(admin)) ?? {};
    const { vmId } = await givenBoundVm(admin);
    expect(await getConductor(admin)).toMatchObject({ boundVms: before + 1 });
    await unbindChannel(admin, { vmId });
    expect(await getConductor(admin)).toMatchObject({ boundVms: before });
  });

  test('names its fault', async () => {
    const since = new Date();
    const fault = { id: 'conductor.certificate-expired', detail: 'certificate has expired', since } as const;
    await noteConductor(admin, { connectedAt: null, fault, unreadable: 0, unmatched: 0 });
    const viewer = await testContext({ services: admin, role: 'viewer' });
    const named = { connectedAt: null, fault: 'conductor.certificate-expired', faultSince: since };
    expect(await getConductor(viewer), 'only admins see the error message').toMatchObject({
      ...named,
      faultDetail: null,
    });
    expect(await getConductor(admin)).toMatchObject({ ...named, faultDetail: 'certificate has expired' });
  });
});
