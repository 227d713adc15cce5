import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Context } from '#server/domain/context.ts';
import { issueEnrollmentToken } from '#server/domain/enrollment/index.ts';
import { getInstanceView } from '#server/domain/views/index.ts';
import { type AgentDoor, type GivenAgent, givenAgent, openAgentDoor } from '#server/testing/agent-door.ts';
import { testContext, testServices } from '#server/testing/context.ts';
import { newKeyPair } from '#server/testing/key-pair.ts';
import { statementsOf } from '#server/testing/statements.ts';

let ctx: Context;
let door: AgentDoor;
let agent: GivenAgent;
let now: number;

const open = () => openAgentDoor({ ...ctx, clock: () => new Date(now) });

beforeEach(async () => {
  now = Date.now();
  ctx = await testContext({ services: await testServices({ config: { vmRate: 0 } }) });
  door = await open();
  agent = await givenAgent(ctx, door, 'identified');
});
afterEach(() => door.close());

const poll = async (claim: string | null): Promise<number | string> => {
  const headers = { ...agent.authorization, ...(claim === null ? {} : { 'annex-agent': claim }) };
  const answer = await fetch(`${door.url}/goal-state`, { headers });
  return answer.status === 200 ? 200 : ((await answer.json()) as { code: string }).code;
};
const shown = async () =>
  (await getInstanceView({ ...ctx, now: new Date(now) }, { vmId: agent.vmId })).agent.refusals.map(({ code }) => code);

test('an agent that never sent the header is accepted', async () => {
  expect(await poll(null)).toBe(200);
  expect(await poll('not a header')).toBe(200);
  expect(await shown()).toEqual([]);
});

test.each([
  ['no header', null],
  ['no counter', 'one'],
  ['a malformed header', 'one/2'],
  ['nothing', ''],
])('once the agent’s machine is known, a call with %s is rejected and shown on the page', async (_what, claim) => {
  expect(await poll('one; 1')).toBe(200);
  expect(await poll(claim)).toBe('agent_unidentified');
  expect(await shown()).toEqual(['agent_unidentified']);
  expect(await poll('one; 2'), 'the machine itself goes on').toBe(200);
  const acts = await ctx.db.$client.query(`select details from audit_entries where action = 'agent.reject'`);
  expect(acts.rows).toEqual([{ details: { reason: 'agent_unidentified' } }]);
  expect(await statementsOf(async () => void (await poll(claim))), 'a second one is no statement').toEqual([]);
  now += 25 * 3_600_000;
  expect(await shown(), 'a day later').toEqual([]);
});

test('a report without the header is rejected too', async () => {
  expect(await poll('one; 1')).toBe(200);
  const body = JSON.stringify({ reportNumber: 1 });
  expect((await agent.call('/reports', { method: 'POST', body })).status).toBe(409);
});

test('a check of the credential, as by agent doctor, needs no header', async () => {
  expect(await poll('one; 1')).toBe(200);
  expect((await agent.call(`/packages/${'0'.repeat(64)}`)).status).toBe(404);
  expect((await agent.call(`/packages/${'1'.repeat(64)}`)).status).toBe(409);
});

test('a counter that jumps is rejected and shown, and the machine with the right counter continues', async () => {
  expect(await poll('one; 100')).toBe(200);
  expect(await poll('one; 1000101')).toBe('counter_jumped');
  expect(await poll('one; 999999999999999')).toBe('counter_jumped');
  expect(await shown()).toEqual(['counter_jumped']);
  expect(await poll('one; 101')).toBe(200);
  expect(await poll('one; 1000101'), 'exactly a million').toBe(200);
  now += 10_000;
  expect(await poll('one; 2100102'), 'one more than 10,000 for each of ten seconds').toBe('counter_jumped');
  expect(await poll('one; 2100101')).toBe(200);
});

test('a gateway that has not seen the machine before knows its counter and its last call', async () => {
  expect(await poll('one; 100')).toBe(200);
  await door.close();
  now += 10_000;
  door = await open();
  expect(await poll('one; 1100101')).toBe('counter_jumped');
  expect(await poll('one; 101')).toBe(200);
});

test('the first number is arbitrary, and a new enrollment may start at another number', async () => {
  expect(await poll('clock; 1767225600000')).toBe(200);
  expect(await poll('clock; 1767225600500')).toBe(200);
  expect(await poll(null)).toBe('agent_unidentified');
  const { enrollmentToken } = await issueEnrollmentToken(ctx, { vmId: agent.vmId });
  const body = { enrollmentToken, certificate: newKeyPair().certificate, agent: { name: 'test', version: '1.0' } };
  const enrolled = await fetch(`${door.url}/enroll`, { method: 'POST', body: JSON.stringify(body) });
  const { credential } = (await enrolled.json()) as { credential: string };
  agent = { ...agent, authorization: { authorization: `Bearer ${credential}` } };
  expect(await shown()).toEqual([]);
  expect(await poll(null)).toBe(200);
  expect(await poll('two; 1')).toBe(200);
});
