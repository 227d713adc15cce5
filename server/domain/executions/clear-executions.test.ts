import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { commandOutputs, executionCalls, executionPlans, executions } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import { type AgentDoor, openTestDoor } from '#server/testing/agent-door.ts';
import { testContext } from '#server/testing/context.ts';
import { cancelExecution, clearExecutions } from './index.ts';
import { givenMachine, plan } from './testing/machine.ts';

let door: AgentDoor;
let admin: Context;
beforeAll(async () => {
  const opened = await openTestDoor();
  door = opened.door;
  admin = await testContext({ services: opened.ctx, role: 'admin' });
});
afterAll(() => door.close());

const inDays = (days: number) => new Date(Date.now() + days * 86_400_000);

test('executions are kept for 90 days, with their plans, calls and logs', async () => {
  const machine = await givenMachine(admin, door);
  const { vmId } = machine;
  const old = await machine.queue();
  await machine.next();
  const calls = [{ n: 1, script: 'hello', function: null, state: 'succeeded', row: 1, atMs: 3 }];
  await machine.progress(old.id, 'running', { calls });
  await machine.transcript(old.id, '[0,"begin",{"run":1,"why":"first"}]\n');
  await machine.result(old.id);
  const own = await machine.queue({ ...plan, Name: 'Its own plan' });
  await cancelExecution(admin, { vmId, executionId: own.id });
  const open = await machine.queue();
  const count = async () => ({
    executions: await admin.db.$count(executions, eq(executions.vmId, vmId)),
    calls: await admin.db.$count(executionCalls, eq(executionCalls.vmId, vmId)),
    outputs: await admin.db.$count(commandOutputs, eq(commandOutputs.vmId, vmId)),
    plans: await admin.db.$count(executionPlans),
  });
  expect(await clearExecutions(admin, inDays(89.9))).toBe(0);
  expect(await count()).toEqual({ executions: 3, calls: 1, outputs: 1, plans: 2 });
  expect(await clearExecutions(admin, inDays(90.1))).toBe(2);
  // The queued execution and its plan, which the first execution also used, are kept.
  expect(await count()).toEqual({ executions: 1, calls: 0, outputs: 0, plans: 1 });
  expect(await machine.get(open.id)).toMatchObject({ state: 'queued' });
});

test('a plan that is cleared while it is queued again is stored again', async () => {
  const machine = await givenMachine(admin, door);
  const given = { ...plan, Name: 'Again and again' };
  for (let round = 0; round < 10; round += 1) {
    const { id } = await machine.queue(given);
    await cancelExecution(admin, { vmId: machine.vmId, executionId: id });
    await Promise.all([clearExecutions(admin, inDays(91)), machine.queue(given)]);
    expect((await machine.next())?.plan).toMatchObject({ Name: 'Again and again' });
    const [open] = await admin.db.select().from(executions).where(eq(executions.vmId, machine.vmId));
    await machine.result(open?.id ?? '');
  }
});
