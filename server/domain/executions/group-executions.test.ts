import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Context } from '#server/domain/context.ts';
import { type AgentDoor, openTestDoor } from '#server/testing/agent-door.ts';
import { testContext } from '#server/testing/context.ts';
import { cancelExecution, decideApproval, groupExecutions, listExecutions, setExecutionRules } from './index.ts';
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

test('declined executions are counted and listed apart from canceled ones', async () => {
  const { word } = await givenFour();
  const machine = await givenMachine(admin, door);
  await setExecutionRules(admin, { approval: 'all' });
  const declined = await machine.queue({ ...plan, Name: `${word} rotate`, Version: '1.2.0' });
  await setExecutionRules(admin, { approval: 'none' });
  const actor = { kind: 'user', id: 'ben', name: 'ben', role: 'admin', namespaces: [], scripts: true } as const;
  const about = { vmId: machine.vmId, executionId: declined.id };
  await decideApproval(
    { ...admin, actor: { ...actor, namespaces: [] }, now: new Date() },
    { ...about, approve: false },
  );
  const { groups } = await groupExecutions(admin, { q: `${word} rotate` });
  expect(groups[0]?.outcomes).toMatchObject([
    { state: 'failed', cancellation: null, count: 2 },
    { state: 'cancelled', cancellation: 'cancelled', count: 1 },
    { state: 'cancelled', cancellation: 'declined', count: 1 },
  ]);
  const found = (cancellation: 'cancelled' | 'declined' | 'not-run') =>
    listExecutions(admin, { q: word, state: 'cancelled', cancellation });
  expect((await found('declined')).items.map(({ id }) => id)).toEqual([declined.id]);
  expect((await found('cancelled')).items).toHaveLength(1);
  expect((await found('not-run')).items).toEqual([]);
});

test('the list has exactly the executions of an outcome', async () => {
  const { word, canceled } = await givenFour();
  const { groups } = await groupExecutions(admin, { q: word });
  for (const { name, version, runbook, outcomes } of groups) {
    for (const { state, cancellation, code, count } of outcomes) {
      const { items } = await listExecutions(admin, { group: { name, version, runbook, state, cancellation, code } });
      expect(items.filter((item) => item.name === name && item.state === state)).toHaveLength(count);
      if (state === 'cancelled') expect(items.map(({ id }) => id)).toEqual([canceled.id]);
    }
  }
});

test('a person who is not signed in cannot group executions', async () => {
  const anybody = await testContext({ services: admin, role: null });
  await expect(groupExecutions(anybody, {})).rejects.toMatchObject({ kind: 'unauthenticated' });
});
