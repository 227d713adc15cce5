import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Role } from '#db/schema/auth.ts';
import { anonymous } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { type AgentDoor, openTestDoor } from '#server/testing/agent-door.ts';
import { testContext } from '#server/testing/context.ts';
import {
  cancelExecution,
  cancelWaiting,
  compareCall,
  compareExecutions,
  filterLog,
  followExecution,
  getExecution,
  getPlan,
  getResult,
  listExecutions,
  queueExecution,
  readLog,
  searchLog,
} from './index.ts';
import { givenMachine, plan } from './testing/machine.ts';

type Input = { vmId: string; executionId: string };
type Verb = (ctx: Context, input: Input) => Promise<unknown>;

const verbs: Record<string, [role: Role, verb: Verb]> = {
  listExecutions: ['viewer', (ctx, { vmId }) => listExecutions(ctx, { vmId })],
  getExecution: ['viewer', getExecution],
  getPlan: ['operator', getPlan],
  getResult: ['operator', getResult],
  readLog: ['operator', (ctx, input) => readLog(ctx, { ...input, row: 0 })],
  searchLog: ['operator', (ctx, input) => searchLog(ctx, { ...input, q: 'x' })],
  filterLog: ['operator', (ctx, input) => filterLog(ctx, { ...input, level: 'error' })],
  compareExecutions: ['operator', (ctx, input) => compareExecutions(ctx, { before: input, after: input })],
  compareCall: [
    'operator',
    (ctx, input) => compareCall(ctx, { before: { ...input, n: 1 }, after: { ...input, n: 1 } }),
  ],
  followExecution: ['operator', followExecution],
  cancelWaiting: ['operator', (ctx, { vmId }) => cancelWaiting(ctx, { vmId })],
  cancelExecution: ['operator', cancelExecution],
  queueExecution: ['operator', (ctx, { vmId }) => queueExecution(ctx, { vmId, plan })],
};
const includes: Record<Role, readonly Role[]> = {
  viewer: ['viewer'],
  operator: ['viewer', 'operator'],
  publisher: ['viewer'],
  admin: ['viewer', 'operator', 'admin'],
};

let door: AgentDoor;
let admin: Context;
beforeAll(async () => {
  const opened = await openTestDoor();
  door = opened.door;
  admin = await testContext({ services: opened.ctx, role: 'admin' });
});
afterAll(() => door.close());

/** Creates an execution and delivers it to a machine. */
async function givenInput(): Promise<Input> {
  const machine = await givenMachine(admin, door);
  const { id } = await machine.queue();
  await machine.next();
  return { vmId: machine.vmId, executionId: id };
}

describe.each(Object.keys(verbs))('%s', (name) => {
  const [least, verb] = verbs[name] ?? ['admin', async () => {}];

  test.each(Object.keys(includes) as Role[])(
    'is allowed for %s only if it includes the required role',
    async (role) => {
      const input = await givenInput();
      const call = verb(await testContext({ services: admin, role, scripts: true }), input);
      if (includes[role].includes(least)) await expect(call).resolves.not.toThrow();
      else await expect(call).rejects.toMatchObject({ kind: 'forbidden', code: 'forbidden' });
    },
  );

  test('is not allowed for callers who are not signed in', async () => {
    await expect(verb({ ...admin, actor: anonymous }, await givenInput())).rejects.toMatchObject({
      kind: 'unauthenticated',
    });
  });
});

const ofExisting = Object.keys(verbs).filter((name) => !['listExecutions', 'followExecution'].includes(name));
test.each(ofExisting)('%s needs an execution, or a VM, that exists', async (name) => {
  const vmId = '00000000-0000-7000-8000-000000000000';
  await expect(verbs[name]?.[1](admin, { vmId, executionId: vmId })).rejects.toMatchObject({ kind: 'not_found' });
});
