import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Context } from '#server/domain/context.ts';
import { type AgentDoor, openTestDoor } from '#server/testing/agent-door.ts';
import { testContext } from '#server/testing/context.ts';
import { cancelExecution, groupExecutions, listExecutions } from './index.ts';
import { givenMachine, plan } from './testing/machine.ts';

let door: AgentDoor;
let admin: Context;

beforeAll(async () => {
  const opened = await openTestDoor();
  door = opened.door;
  admin = await testContext({ services: opened.ctx, role: 'admin' });
});
afterAll(() => door.close());

/** Creates a VM with three executions of one plan (two failed alike, one was canceled) and one of another plan. */
async function givenFour() {
  const machine = await givenMachine(admin, door);
  const word = randomUUID().slice(0, 8);
  const rotate = { ...plan, Name: `${word} rotate`, Version: '1.2.0' };
  for (const _ of [1, 2]) {
    const { id } = await machine.queue(rotate);
    await machine.next();
    await machine.result(id, id, { ErrorCode: 10 });
  }
  const canceled = await machine.queue(rotate);
  await cancelExecution(admin, { vmId: machine.vmId, executionId: canceled.id });
  const waiting = await machine.queue({ ...plan, Name: `${word} clean up` });
  return { word, canceled, waiting };
}

test('executions of the same plan are counted by their outcome, the newest plan first', async () => {
  const { word, waiting } = await givenFour();
  const { groups, isCut } = await groupExecutions(admin, { q: word });
  expect(isCut).toBe(false);
  expect(groups).toMatchObject([
    {
      ...{ name: `${word} clean up`, count: 1, newestAt: waiting.queuedAt.toISOString() },
      outcomes: [{ state: 'queued', code: null, count: 1 }],
    },
    {
      ...{ name: `${word} rotate`, version: '1.2.0', runbook: null, count: 3 },
      outcomes: [
        { state: 'failed', code: 10, count: 2 },
        { state: 'cancelled', code: null, count: 1 },
      ],
    },
  ]);
  expect((await groupExecutions(admin, { q: word, state: 'failed' })).groups).toMatchObject([{ count: 2 }]);
});

test('the list has exactly the executions of an outcome', async () => {
  const { word, canceled } = await givenFour();
  const { groups } = await groupExecutions(admin, { q: word });
  for (const { name, version, runbook, outcomes } of groups) {
    for (const { state, code, count } of outcomes) {
      const { items } = await listExecutions(admin, { group: { name, version, runbook, state, code } });
      expect(items.filter((item) => item.name === name && item.state === state)).toHaveLength(count);
      if (state === 'cancelled') expect(items.map(({ id }) => id)).toEqual([canceled.id]);
    }
  }
});

test('a person who is not signed in cannot group executions', async () => {
  const anybody = await testContext({ services: admin, role: null });
  await expect(groupExecutions(anybody, {})).rejects.toMatchObject({ kind: 'unauthenticated' });
});
