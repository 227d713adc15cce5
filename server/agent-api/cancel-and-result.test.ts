import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Context } from '#server/domain/context.ts';
import { cancelExecution, queueExecution } from '#server/domain/executions/index.ts';
import { givenMachine, plan } from '#server/domain/executions/testing/machine.ts';
import { type AgentDoor, openTestDoor } from '#server/testing/agent-door.ts';
import { testContext } from '#server/testing/context.ts';

/** How many cancellations meet a result; `npm run test:queue` tests 1,000. */
const rounds = Number(process.env.ANNEX_CANCEL_ROUNDS ?? 20);

let door: AgentDoor;
let admin: Context;
beforeAll(async () => {
  const opened = await openTestDoor({ vmRate: 0 });
  door = opened.door;
  admin = await testContext({ services: opened.ctx, role: 'admin' });
});
afterAll(() => door.close());

test('case 33: a cancellation and a result at the same moment, in both orders, give one final state', async () => {
  const machine = await givenMachine(admin, door);
  const { vmId } = machine;
  const ends = { succeeded: 0, cancelled: 0 };
  for (let round = 0; round < rounds; round += 1) {
    const { id } = await machine.queue();
    expect((await machine.next())?.id).toBe(id);
    await machine.progress(id);
    const cancel = () => cancelExecution({ ...admin, now: new Date() }, { vmId, executionId: id }).catch(() => {});
    const result = () => machine.result(id);
    const orders = [
      () => Promise.all([cancel(), result()]),
      () => Promise.all([result(), cancel()]),
      async () => {
        await cancel();
        await result();
      },
      async () => {
        await result();
        await cancel();
      },
    ];
    await orders[round % orders.length]?.();
    const { state, concludedAt } = await machine.get(id);
    expect(['succeeded', 'cancelled'], `round ${round}`).toContain(state);
    ends[state as keyof typeof ends] += 1;
    expect((await machine.result(id, id, { ErrorCode: 1 })).status).toBe(204);
    expect(await machine.get(id), `round ${round}`).toMatchObject({ state, concludedAt });
  }
  expect(Math.min(ends.succeeded, ends.cancelled)).toBeGreaterThan(0);
  expect((await queueExecution({ ...admin, now: new Date() }, { vmId, plan })).isNew).toBe(true);
}, 600_000);
