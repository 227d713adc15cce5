import pino from 'pino';
import { afterEach, expect, test } from 'vitest';
import type { Context } from '#server/domain/context.ts';
import { issueEnrollmentToken } from '#server/domain/enrollment/index.ts';
import { setExtension } from '#server/domain/goal-states/index.ts';
import { removeVm } from '#server/domain/vm-lifecycle/index.ts';
import { natsWakes, tellAfterCommit } from '#server/platform/wakes/index.ts';
import { givenAgent, openAgentDoor } from '#server/testing/agent-door.ts';
import { testContext, testServices, testWakes } from '#server/testing/context.ts';
import { givenVersion } from '#server/testing/handlers.ts';
import { newKeyPair } from '#server/testing/key-pair.ts';
import { startNats } from '#server/testing/nats-server.ts';
import { hasProgram } from '#server/testing/programs.ts';

type Door = Awaited<ReturnType<typeof openAgentDoor>>;

let ctx: Context;
let doors: [Door, Door];
let endings: (() => Promise<unknown>)[] = [];

/** Starts two gateways that share only the database and the wake-up transport, as two processes would. */
async function openTwo(carrier: string): Promise<void> {
  const services = await testServices({ config: { vmRate: 0 } });
  let wakes = () => testWakes(services.db);
  if (carrier === 'NATS') {
    const nats = await startNats();
    const options = { url: nats.url, installation: 'test', name: 'test', log: pino({ level: 'silent' }) };
    wakes = () => natsWakes(options).wakes;
    const operator = natsWakes(options);
    const held = operator.wakes.listen([], { heard() {}, lost() {}, back() {} });
    endings = [() => held.close(), () => nats.stop()];
    tellAfterCommit(services.db, operator.publish);
  }
  ctx = await testContext({ role: 'operator', services });
  doors = [await openAgentDoor({ ...services, wakes: wakes() }), await openAgentDoor({ ...services, wakes: wakes() })];
  await givenVersion(ctx.db);
}

afterEach(async () => {
  await Promise.all(doors.map((door) => door.close()));
  for (const end of endings.splice(0)) await end();
});

const poll = (door: Door, headers: Record<string, string>, query = '') =>
  fetch(`${door.url}/goal-state${query}`, { headers });

const carriers = ['NOTIFY', ...(hasProgram('nats-server') ? ['NATS'] : [])];

test.each(carriers)('polls at both gateways see a change within 250 ms of its response, over %s', async (carrier) => {
  await openTwo(carrier);
  const agent = await givenAgent(ctx, doors[0], 'seen-by-both');
  const authorization = `Bearer ${agent.credential}`;
  const etags = async (headers = {}) => {
    const answers = await Promise.all(doors.map((door) => poll(door, { authorization, ...headers })));
    return answers.map((answer) => (answer.status === 200 ? answer.headers.get('etag') : answer.status));
  };
  for (let round = 0; round < 5; round++) {
    const [etag] = (await etags()) as [string];
    expect(await etags({ 'if-none-match': etag })).toEqual([304, 304]);
    const held = doors.map((door) => poll(door, { authorization, 'if-none-match': etag }, '?wait=30'));
    const goal = {
      handler: 'Acme.Lab.Probe',
      version: '1.0.0.0',
      state: round % 2 ? ('disabled' as const) : ('enabled' as const),
    };
    const { incarnation } = await setExtension(ctx, { vmId: agent.vmId, name: 'probe', goal });
    const seen = () => etags({ 'if-none-match': etag });
    await expect.poll(seen, { timeout: 250, interval: 20 }).toEqual([expect.any(String), expect.any(String)]);
    for (const answer of await Promise.all(held)) expect(answer.status).toBe(200);
    expect((await etags())[0]).toContain(String(incarnation));
  }
  await removeVm(ctx, { vmId: agent.vmId });
  await expect.poll(() => etags(), { timeout: 250, interval: 20 }).toEqual([401, 401]);
});

test('an agent that alternates between gateways never counts as a copy, nor does its successor', async () => {
  await openTwo('NOTIFY');
  const agent = await givenAgent(ctx, doors[0], 'alternating');
  const calls = async (credential: string, instance: string) => {
    for (let call = 1; call <= 100; call++) {
      // The first and last calls alternate between the gateways. In between, one gateway gets all calls, so that the
      // other must catch up.
      const door = doors[call > 10 && call < 90 ? 0 : ((call % 2) as 0 | 1)];
      const answer = await poll(door, { authorization: `Bearer ${credential}`, 'annex-agent': `${instance}; ${call}` });
      expect(answer.status, `${instance} ${call}`).toBe(200);
    }
  };
  await calls(agent.credential, 'first');
  const { enrollmentToken } = await issueEnrollmentToken(ctx, { vmId: agent.vmId });
  const body = { enrollmentToken, certificate: newKeyPair().certificate, agent: { name: 'test', version: '1.0' } };
  const enrolled = await fetch(`${doors[1].url}/enroll`, { method: 'POST', body: JSON.stringify(body) });
  const { credential } = (await enrolled.json()) as { credential: string };
  await calls(credential, 'second');
  const copy = await poll(doors[0], { authorization: `Bearer ${credential}`, 'annex-agent': 'second; 9' });
  expect(copy.status).toBe(409);
});
