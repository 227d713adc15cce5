import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { agents, auditEntries } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import { type AgentDoor, type GivenAgent, givenAgent, openTestDoor } from '#server/testing/agent-door.ts';

let ctx: Context;
let door: AgentDoor;
let machine: GivenAgent;
beforeAll(async () => {
  ({ ctx, door } = await openTestDoor());
  machine = await givenAgent(ctx, door, 'machine');
});
afterAll(() => door.close());

const put = (body: unknown, headers = {}) =>
  machine.call('/agent', { method: 'PUT', body: JSON.stringify(body), headers });
const stored = async () => {
  const [row] = await ctx.db.select().from(agents).where(eq(agents.vmId, machine.vmId));
  return [row?.name, row?.version];
};
const entries = () => ctx.db.$count(auditEntries, eq(auditEntries.action, 'agent.update'));

test('stores the version of an updated agent, with one entry in the activity log', async () => {
  const description = { name: 'annex-agent', version: '0.2.0' };
  expect((await put(description)).status).toBe(204);
  expect(await stored()).toEqual(['annex-agent', '0.2.0']);
  expect((await put(description)).status).toBe(204);
  expect(await entries()).toBe(1);
});

test.each([
  ['no version', { name: 'annex-agent' }, {}, 400],
  ['a version that is too long', { name: 'annex-agent', version: '1'.repeat(300) }, {}, 400],
  ['another credential', { name: 'annex-agent', version: '0.3.0' }, { authorization: 'Bearer other' }, 401],
])('%s is rejected', async (_, body, headers, status) => {
  const before = await stored();
  expect((await put(body, headers)).status).toBe(status);
  expect(await stored()).toEqual(before);
});

test('an agent that keeps changing its version is stopped by the hourly limit', async () => {
  const versions = Array.from({ length: 20 }, (_, index) => `0.4.${index}`);
  const statuses: number[] = [];
  for (const version of versions) statuses.push((await put({ name: 'annex-agent', version })).status);
  expect(statuses.filter((status) => status === 429).length).toBeGreaterThan(0);
});
