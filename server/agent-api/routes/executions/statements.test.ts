import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Context } from '#server/domain/context.ts';
import { givenMachine } from '#server/domain/executions/testing/machine.ts';
import { type AgentDoor, openTestDoor } from '#server/testing/agent-door.ts';
import { testContext } from '#server/testing/context.ts';
import { statementsOf } from '#server/testing/statements.ts';

let door: AgentDoor;
let admin: Context;

beforeAll(async () => {
  const opened = await openTestDoor();
  door = opened.door;
  admin = await testContext({ services: opened.ctx, role: 'admin' });
});
afterAll(() => door.close());

/** Returns the number of statements of a call, without the one that reloads changed agents in batches. */
async function count(call: () => Promise<unknown>): Promise<number> {
  const statements = await statementsOf(call);
  return statements.filter((text) => !text.includes('credential_hash = any')).length;
}

test('each call of an agent about an execution is one statement, and reading before that is one more', async () => {
  const machine = await givenMachine(admin, door);
  // The gateway may still be learning of the enrollment during the first call.
  await machine.next();
  expect(await count(() => machine.next()), 'nothing waits').toBe(1);
  const { id } = await machine.queue();
  expect(await count(() => machine.next()), 'delivered').toBe(2);
  expect(await count(() => machine.progress(id)), 'received').toBe(1);
  const calls = [{ n: 1, script: 'hello', function: null, state: 'running', row: 2, atMs: 12 }];
  expect(await count(() => machine.progress(id, 'running', { calls })), 'begun').toBe(1);
  expect(await count(() => machine.progress(id, 'running')), 'nothing new is only read').toBe(1);
  expect(await count(() => machine.transcript(id, '[0,"begin",{"run":1,"why":"first"}]\n')), 'transcript').toBe(9);
  expect(await count(() => machine.result(id)), 'concluded').toBe(1);
  expect(await count(() => machine.result(id)), 'a repeated result is read and counted').toBe(2);
  expect(await machine.get(id)).toMatchObject({ state: 'succeeded', repeats: 1, calls: [{ n: 1 }] });
});

test('concurrent calls of several machines share statements', async () => {
  const machines = await Promise.all(Array.from({ length: 12 }, () => givenMachine(admin, door)));
  await Promise.all(machines.map((machine) => machine.queue()));
  const ids: string[] = [];
  const taken = await count(() =>
    Promise.all(machines.map(async (machine) => void ids.push((await machine.next())?.id ?? ''))),
  );
  expect(new Set(ids).size).toBe(machines.length);
  expect(taken).toBeLessThan(2 * machines.length);
});
