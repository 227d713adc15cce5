import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Context } from '#server/domain/context.ts';
import { removeVm } from '#server/domain/vm-lifecycle/index.ts';
import { type AgentDoor, givenAgent, givenProbe, openAgentDoor, openTestDoor } from '#server/testing/agent-door.ts';
import { longTest } from '#server/testing/long.ts';
import { statementsOf } from '#server/testing/statements.ts';

let ctx: Context;
let door: AgentDoor;
let count = 0;

beforeAll(async () => {
  ({ ctx, door } = await openTestDoor());
});
afterAll(() => door.close());

const newAgent = () => {
  count += 1;
  return givenAgent(ctx, door, `poll-${count}`);
};

test('200 with an ETag, then 304 with this ETag, and the same bytes again without it', async () => {
  const agent = await newAgent();
  await givenProbe(ctx, agent.vmId);
  const first = await agent.call('/goal-state');
  expect(first.status).toBe(200);
  const etag = first.headers.get('etag') ?? '';
  const text = await first.text();
  expect(JSON.parse(text)).toMatchObject({ protocol: 1, vmId: agent.vmId, extensions: [{ name: 'probe' }] });
  expect(Number(first.headers.get('annex-poll-after'))).toBeGreaterThan(0);

  const second = await agent.call('/goal-state', { headers: { 'if-none-match': etag } });
  expect(second.status).toBe(304);
  expect(second.headers.get('etag')).toBe(etag);
  expect(await second.text()).toBe('');
  expect(await (await agent.call('/goal-state')).text()).toBe(text);
});

test('an unchanged poll runs no statement, or one if the agent is not cached', async () => {
  const agent = await newAgent();
  const etag = (await agent.call('/goal-state')).headers.get('etag') ?? '';
  const poll = () => agent.call('/goal-state', { headers: { 'if-none-match': etag } });
  const statements = () => statementsOf(async () => expect((await poll()).status).toBe(304));
  // The enrollment's wake-up may arrive after the first call.
  await expect.poll(statements).toEqual([]);
  expect(await statements()).toEqual([]);
  const other = await openAgentDoor(ctx);
  try {
    const there = () =>
      statementsOf(async () => {
        const headers = { 'if-none-match': etag, ...agent.authorization };
        expect((await fetch(`${other.url}/goal-state`, { headers })).status).toBe(304);
      });
    expect(await there()).toHaveLength(1);
    await expect.poll(there).toEqual([]);
  } finally {
    await other.close();
  }
});

test('an agent with held polls is expected to poll again soon, even after an immediate response', async () => {
  const agent = await newAgent();
  const answer = await agent.call('/goal-state?wait=30', { headers: { 'if-none-match': '"another"' } });
  expect(answer.status).toBe(200);
  expect(Number(answer.headers.get('annex-poll-after'))).toBeLessThanOrEqual(2);
});

describe('held polls', () => {
  const held = async () => {
    const agent = await newAgent();
    const etag = (await agent.call('/goal-state')).headers.get('etag') ?? '';
    const poll = (wait: string) => agent.call(`/goal-state?wait=${wait}`, { headers: { 'if-none-match': etag } });
    return { agent, poll };
  };

  test('a change arrives within 250 ms of its response', async () => {
    const { agent, poll } = await held();
    const answer = poll('30');
    await givenProbe(ctx, agent.vmId);
    const changed = Date.now();
    expect((await answer).status).toBe(200);
    expect(Date.now() - changed).toBeLessThan(250);
  });

  test('after the wait the response is 304', async () => {
    const { poll } = await held();
    const asked = Date.now();
    expect((await poll('1')).status).toBe(304);
    expect(Date.now() - asked).toBeGreaterThanOrEqual(950);
  });

  test('a newer poll ends the older poll', async () => {
    const { agent, poll } = await held();
    const older = poll('60');
    const newer = poll('60');
    expect((await Promise.race([older, newer])).status).toBe(304);
    await givenProbe(ctx, agent.vmId);
    const statuses = [(await older).status, (await newer).status].sort();
    expect(statuses).toEqual([200, 304]);
  });

  test('the poll of a deleted VM ends with 401', async () => {
    const { agent, poll } = await held();
    const answer = poll('60');
    await removeVm(ctx, { vmId: agent.vmId });
    expect((await answer).status).toBe(401);
    expect((await agent.call('/goal-state')).status).toBe(401);
  });

  longTest('an agent that disconnects is expected soon, not at the end of its poll', async () => {
    const { agent } = await held();
    const expected = async () => {
      const { rows } = await ctx.db.$client.query(
        'select extract(epoch from next_expected_at - last_seen_at)::int as seconds from agent_presence where vm_id = $1',
        [agent.vmId],
      );
      return rows[0]?.seconds as number | undefined;
    };
    const etag = (await agent.call('/goal-state')).headers.get('etag') ?? '';
    const hangUp = new AbortController();
    const poll = agent
      .call('/goal-state?wait=60', { headers: { 'if-none-match': etag }, signal: hangUp.signal })
      .catch(() => 'hung up');
    await expect.poll(expected, { timeout: 5_000 }).toBeGreaterThan(50);
    hangUp.abort();
    expect(await poll).toBe('hung up');
    await expect.poll(expected, { timeout: 5_000 }).toBeLessThan(10);
  });

  test.each(['-1', 'soon', '9999999999'])('?wait=%s does not wait', async (wait) => {
    const { poll } = await held();
    expect((await poll(wait)).status).toBe(304);
  });
});

describe('authentication', () => {
  test.each([
    ['no credential', {}],
    ['a wrong credential', { authorization: 'Bearer annex_agent_wrong' }],
    ['another scheme', { authorization: 'Basic YTpi' }],
  ])('401 for %s', async (_, headers) => {
    const answer = await fetch(`${door.url}/goal-state`, { headers: headers as Record<string, string> });
    expect(answer.status).toBe(401);
    expect(await answer.json()).toMatchObject({ code: 'credential_refused' });
  });

  test('409 for a second machine with the same identity: another instance, or a used number', async () => {
    const agent = await newAgent();
    const as = async (claim: string) => (await agent.call('/goal-state', { headers: { 'annex-agent': claim } })).status;
    expect(await as('one; 1')).toBe(200);
    expect(await as('one; 2')).toBe(200);
    expect(await as('one; 2')).toBe(409);
    expect(await as('two; 3')).toBe(409);
    expect(await as('one; 3')).toBe(200);
    const { rows } = await ctx.db.$client.query('select duplicate_seen_at from agents where vm_id = $1', [agent.vmId]);
    expect(rows[0].duplicate_seen_at).not.toBeNull();
  });

  test("429 with Retry-After above a VM's rate; another VM at the same address is accepted", async () => {
    const limited = await openAgentDoor({ ...ctx, config: { ...ctx.config, vmRate: 2 } });
    try {
      count += 2;
      const busy = await givenAgent(ctx, limited, `poll-busy-${count}`);
      const calm = await givenAgent(ctx, limited, `poll-calm-${count}`);
      const statuses = await Promise.all(
        Array.from({ length: 20 }, async () => (await busy.call('/goal-state')).status),
      );
      expect(statuses).toContain(429);
      const refused = await busy.call('/goal-state');
      expect(refused.status).toBe(429);
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
      expect((await calm.call('/goal-state')).status).toBe(200);
    } finally {
      await limited.close();
    }
  });

  test('404 for other paths and 405 for other methods', async () => {
    expect((await fetch(`${door.url}/nothing`)).status).toBe(404);
    const refused = await fetch(`${door.url}/goal-state`, { method: 'POST' });
    expect(refused.status).toBe(405);
    expect(refused.headers.get('allow')).toBe('GET');
  });
});
