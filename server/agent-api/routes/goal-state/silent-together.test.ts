import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { agentPresence } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import { foldHealth } from '#server/domain/health/index.ts';
import { getInstanceView, listSilentTogether } from '#server/domain/views/index.ts';
import { type AgentDoor, type GivenAgent, givenAgent, openAgentDoor } from '#server/testing/agent-door.ts';
import { testContext, testServices } from '#server/testing/context.ts';

let ctx: Context;
let door: AgentDoor;
const start = Date.now();
let passed = 0;
const after = (seconds: number) => new Date(start + seconds * 1000);

beforeAll(async () => {
  const services = await testServices({ config: { vmRate: 0 } });
  ctx = await testContext({ role: 'operator', services });
  door = await openAgentDoor({ ...services, clock: () => after(passed) });
});
afterAll(() => door.close());

const sightingOf = async ({ vmId }: GivenAgent) => {
  const [row] = await ctx.db.select().from(agentPresence).where(eq(agentPresence.vmId, vmId));
  return { seen: row?.lastSeenAt, expected: row?.nextExpectedAt };
};

/** Waits until the portal has stored the times of an agent's last call and of the next expected call. */
const expectSighting = (agent: GivenAgent, seen: number, expected: number) =>
  expect.poll(() => sightingOf(agent), { timeout: 20_000 }).toEqual({ seen: after(seen), expected: after(expected) });

/** Polls for at most a minute. Once the portal holds the poll, returns a function that ends the agent's process. */
async function hold(agent: GivenAgent): Promise<() => void> {
  const etag = (await agent.call('/goal-state')).headers.get('etag') ?? '';
  const process = new AbortController();
  const headers = { 'if-none-match': etag };
  agent.call('/goal-state?wait=60', { headers, signal: process.signal }).catch(() => undefined);
  await expectSighting(agent, passed, passed + 62);
  return () => process.abort();
}

test('agents that end during their polls in the same minute are named on each other’s pages', {
  timeout: 120_000,
}, async () => {
  const names = ['rack-a', 'rack-b', 'earlier'];
  const [a, b, earlier] = (await Promise.all(names.map((name) => givenAgent(ctx, door, name)))) as [
    GivenAgent,
    GivenAgent,
    GivenAgent,
  ];
  const endEarlier = await hold(earlier);
  passed = 10;
  endEarlier();
  await expectSighting(earlier, 10, 15);

  passed = 60;
  const endA = await hold(a);
  passed = 100;
  const endB = await hold(b);
  passed = 115;
  endA();
  endB();
  // An agent whose poll closes was last seen when the poll closed, not when the poll began.
  for (const agent of [a, b]) await expectSighting(agent, 115, 120);

  const later = { ...ctx, now: after(3_600) };
  await foldHealth(ctx, later.now);
  expect((await getInstanceView(later, { vmId: a.vmId })).agent).toMatchObject({
    status: 'unresponsive',
    lastSeenAt: after(115).toISOString(),
  });
  const namedBy = async ({ vmId }: GivenAgent) =>
    (await listSilentTogether(later, { vmId })).items.map(({ name }) => name);
  expect([await namedBy(a), await namedBy(b), await namedBy(earlier)]).toEqual([['rack-b'], ['rack-a'], []]);
});
