import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Context } from '#server/domain/context.ts';
import { removeVm } from '#server/domain/vm-lifecycle/index.ts';
import { type AgentDoor, openTestDoor } from '#server/testing/agent-door.ts';
import { testContext } from '#server/testing/context.ts';
import { cancelExecution, getExecution, getResult, listExecutions } from './index.ts';
import type { ListExecutionsInput } from './input.ts';
import { givenMachine, plan } from './testing/machine.ts';

let door: AgentDoor;
let admin: Context;

beforeAll(async () => {
  const opened = await openTestDoor();
  door = opened.door;
  admin = await testContext({ services: opened.ctx, role: 'admin' });
});
afterAll(() => door.close());

const namesOf = async (input: ListExecutionsInput) =>
  (await listExecutions(admin, input)).items.map(({ name }) => name);

/** Creates a VM with an execution that failed, one that was canceled, and one that waits. */
async function givenThree() {
  const machine = await givenMachine(admin, door);
  const { vmId } = machine;
  const word = randomUUID().slice(0, 8);
  const failed = await machine.queue({ ...plan, Name: `${word} failed` });
  await machine.next();
  await machine.result(failed.id, failed.id, { ErrorCode: 10 });
  const canceled = await machine.queue({ ...plan, Name: `${word} 100%` });
  await cancelExecution(admin, { vmId, executionId: canceled.id });
  await machine.queue({ ...plan, Name: `${word} waiting` });
  return { vmId, word };
}

test('executions are listed newest first, those that ended apart from those that did not', async () => {
  const { vmId, word } = await givenThree();
  expect(await namesOf({ vmId })).toEqual([`${word} waiting`, `${word} 100%`, `${word} failed`]);
  expect(await namesOf({ vmId, ended: true })).toEqual([`${word} 100%`, `${word} failed`]);
  expect(await namesOf({ vmId, ended: false })).toEqual([`${word} waiting`]);
});

test('the list of all VMs is filtered by state, code, person and words, and a percent sign is literal', async () => {
  const { vmId, word } = await givenThree();
  expect(await namesOf({ q: word, state: 'cancelled' })).toEqual([`${word} 100%`]);
  expect(await namesOf({ q: word, code: 10 })).toEqual([`${word} failed`]);
  expect(await namesOf({ q: word.toUpperCase(), by: admin.actor.name })).toHaveLength(3);
  expect(await namesOf({ q: word, by: 'someone else' })).toEqual([]);
  expect(await namesOf({ q: `${word} 1%` })).toEqual([]);
  expect(await namesOf({ q: `${word} 100%` })).toEqual([`${word} 100%`]);
  await removeVm(admin, { vmId });
  expect(await namesOf({ q: word }), 'a deleted VM is in no list').toEqual([]);
  expect(await namesOf({ vmId }), 'its own list stays').toHaveLength(3);
});

test('a list continues after its last execution, and an invalid cursor is rejected', async () => {
  const { vmId, word } = await givenThree();
  const first = await listExecutions(admin, { vmId, limit: 2 });
  const second = await listExecutions(admin, { vmId, limit: 2, cursor: first.nextCursor ?? '' });
  expect([first.items.length, second.items.map(({ name }) => name), second.nextCursor]).toEqual([
    2,
    [`${word} failed`],
    null,
  ]);
  await expect(listExecutions(admin, { vmId, cursor: 'x' })).rejects.toMatchObject({ code: 'cursor_invalid' });
});

test('the sentence about a failure is for viewers too, and is cut; the result itself is for operators', async () => {
  const machine = await givenMachine(admin, door);
  const { vmId } = machine;
  const { id } = await machine.queue();
  await machine.next();
  const Message = `No disk: ${'x'.repeat(100_000)}`;
  await machine.result(id, id, {
    ErrorCode: 1,
    Body: { Message, Stack: ['in Body'], AdditionalInfo: { script: 'a' } },
  });
  const viewer = await testContext({ services: admin, role: 'viewer' });
  const listed = await listExecutions(viewer, { vmId });
  const shown = await getExecution(viewer, { vmId, executionId: id });
  expect(shown.message).toEqual({ id: 'execution.code.1', params: ['a', `${Message.slice(0, 2_000)}…`, '1'] });
  expect(listed.items[0]?.message).toEqual(shown.message);
  expect(JSON.stringify([listed, shown])).not.toContain('in Body');
  await expect(getResult(viewer, { vmId, executionId: id })).rejects.toMatchObject({ kind: 'forbidden' });
  expect(await getResult(admin, { vmId, executionId: id })).toContain(Message);
});
