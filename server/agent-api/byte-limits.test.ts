import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Context } from '#server/domain/context.ts';
import { issueEnrollmentToken } from '#server/domain/enrollment/index.ts';
import { setExtension } from '#server/domain/goal-states/index.ts';
import { getInstanceView } from '#server/domain/views/index.ts';
import { defaultLimits, type Limits } from '#server/platform/limits.ts';
import { type AgentDoor, givenAgent, givenProbe, openAgentDoor } from '#server/testing/agent-door.ts';
import { testContext, testServices } from '#server/testing/context.ts';
import { givenVersion } from '#server/testing/handlers.ts';
import { newKeyPair, proofOf } from '#server/testing/key-pair.ts';
import { statementsOf } from '#server/testing/statements.ts';

let ctx: Context;
let door: AgentDoor | undefined;
let now: number;

async function open(vm: Partial<Limits['vm']>, waiting = defaultLimits.waiting): Promise<AgentDoor> {
  const limits = { ...defaultLimits, waiting, vm: { ...defaultLimits.vm, ...vm } };
  ctx = await testContext({ services: await testServices({ config: { vmRate: 0, limits } }) });
  await givenVersion(ctx.db);
  const opened = await openAgentDoor({ ...ctx, clock: () => new Date(now) });
  door = opened;
  return opened;
}

beforeEach(() => {
  now = Date.now();
});
afterEach(async () => {
  await door?.close();
  door = undefined;
});

const shown = async (vmId: string) =>
  (await getInstanceView({ ...ctx, now: new Date(now) }, { vmId })).agent.refusals.map(({ code }) => code);

test('reports above the hourly byte limit get 429 with Retry-After, shown on the page; other VMs continue', async () => {
  const door = await open({ reportBytesPerHour: 60_000 });
  const [loud, calm] = [await givenAgent(ctx, door, 'loud'), await givenAgent(ctx, door, 'calm')];
  await givenProbe(ctx, loud.vmId);
  await givenProbe(ctx, calm.vmId);
  let number = 0;
  const report = (agent: typeof loud, bytes: number) => {
    number += 1;
    const heartbeat = { status: 'ready', formattedMessage: { lang: 'en', message: 'x'.repeat(bytes) } };
    const heartbeats = [{ extension: 'probe', ageSeconds: 1, file: [{ version: 1, heartbeat }] }];
    return agent.call('/reports', { method: 'POST', body: JSON.stringify({ reportNumber: number, heartbeats }) });
  };
  const statuses: number[] = [];
  for (let n = 0; n < 10 && statuses.at(-1) !== 429; n += 1) statuses.push((await report(loud, 10_000)).status);
  expect(statuses).toEqual([204, 204, 204, 204, 204, 204, 429]);
  const refused = await report(loud, 10);
  const seconds = Number(refused.headers.get('retry-after'));
  expect([refused.status, seconds]).toEqual([429, expect.any(Number)]);
  expect(await refused.json()).toMatchObject({ code: 'report_bytes_exceeded' });
  expect(await shown(loud.vmId)).toEqual(['report_bytes_exceeded']);
  expect(await statementsOf(async () => void (await report(loud, 10))), 'another one is no statement').toEqual([]);
  expect((await loud.call('/goal-state')).status, 'polls go on').toBe(200);
  expect((await report(calm, 10_000)).status).toBe(204);
  expect(await shown(calm.vmId)).toEqual([]);
  now += seconds * 1_000;
  expect((await report(loud, 10)).status).toBe(204);
});

test('a new credential does not reset the bytes that a VM has sent', async () => {
  const door = await open({ reportBytesPerHour: 60_000 });
  const agent = await givenAgent(ctx, door, 'enrolls-again');
  const send = async (headers: Record<string, string>) =>
    (await fetch(`${door.url}/reports`, { method: 'POST', body: 'x'.repeat(35_000), headers })).status;
  expect(await send(agent.authorization)).toBe(400);
  const { enrollmentToken } = await issueEnrollmentToken(ctx, { vmId: agent.vmId });
  const enrolled = await fetch(`${door.url}/enroll`, {
    method: 'POST',
    body: JSON.stringify({
      enrollmentToken,
      certificate: newKeyPair().certificate,
      agent: { name: 'test', version: '1.0' },
    }),
  });
  const { credential } = (await enrolled.json()) as { credential: string };
  const renewed = { authorization: `Bearer ${credential}` };
  expect(await send(renewed)).toBe(400);
  expect(await send(renewed)).toBe(429);
});

test('unreadable reports count too', async () => {
  const door = await open({ reportBytesPerHour: 60_000 });
  const agent = await givenAgent(ctx, door, 'garbled');
  const statuses: number[] = [];
  for (let n = 0; n < 7; n += 1) {
    statuses.push((await agent.call('/reports', { method: 'POST', body: 'x'.repeat(10_000) })).status);
  }
  expect(statuses).toEqual([400, 400, 400, 400, 400, 400, 429]);
});

test('a VM that starts many reports without sending their bytes does not block other VMs', async () => {
  const door = await open({}, { reports: 1_000, bytes: 800_000 });
  const [stalling, calm] = [await givenAgent(ctx, door, 'stalling'), await givenAgent(ctx, door, 'calm')];
  const { hostname, port } = new URL(door.url);
  const answers: string[] = [];
  const sockets: Socket[] = [];
  try {
    for (let n = 0; n < 8; n += 1) {
      const socket = connect(Number(port), hostname);
      socket.on('data', (data) => answers.push(data.toString().slice(0, 12)));
      socket.write(
        `POST /agent/v1/reports HTTP/1.1\r\nhost: annex\r\nauthorization: ${stalling.authorization.authorization}\r\ncontent-length: 100000\r\n\r\n{`,
      );
      sockets.push(socket);
    }
    await expect.poll(() => answers, { timeout: 5_000 }).toEqual(Array.from({ length: 7 }, () => 'HTTP/1.1 503'));
    const report = await calm.call('/reports', { method: 'POST', body: JSON.stringify({ reportNumber: 1 }) });
    expect(report.status).toBe(204);
  } finally {
    for (const socket of sockets) socket.destroy();
  }
});

test('the default allows a report of 1 MiB every 15 seconds', () => {
  expect(defaultLimits.vm.reportBytesPerHour).toBeGreaterThanOrEqual(240 * defaultLimits.report.bytes);
});

test('renewals above the hourly limit get 429 with Retry-After, shown on the page', async () => {
  const door = await open({ renewalsPerHour: 2 });
  let pair = newKeyPair();
  const agent = await givenAgent(ctx, door, 'renewing', pair);
  const renew = async () => {
    const next = newKeyPair();
    const body = JSON.stringify({ certificate: next.certificate, proof: proofOf(pair, next) });
    const answer = await agent.call('/certificate', { method: 'PUT', body });
    if (answer.status === 200) pair = next;
    return [answer.status, answer.headers.get('retry-after')];
  };
  expect([await renew(), await renew(), await renew()]).toEqual([
    [200, null],
    [200, null],
    [429, '1800'],
  ]);
  expect(await shown(agent.vmId)).toEqual(['renewals_exceeded']);
  now += 1_800_000;
  expect((await renew())[0]).toBe(200);
});

test('goal states above the hourly byte limit get 429 with Retry-After, shown on the page', async () => {
  const door = await open({ goalStateBytesPerHour: 20_000 });
  const agent = await givenAgent(ctx, door, 'changing');
  const change = (n: number) => {
    const text = Array.from({ length: 200 }, (_, k) => ((n + 1) * (k + 7) * 2_654_435_761).toString(36)).join('');
    const goal = {
      handler: 'Acme.Lab.Probe',
      version: '1.0.0.0',
      state: 'enabled' as const,
      settings: { publicSettings: { text } },
    };
    return setExtension({ ...ctx, now: new Date(now) }, { vmId: agent.vmId, name: 'probe', goal });
  };
  const outcomes: string[] = [];
  for (let n = 0; n < 40 && outcomes.at(-1) !== 'goal_states_exceeded'; n += 1) {
    outcomes.push(
      await change(n).then(
        () => 'set',
        (error: { code: string; retryAfter: number }) => `${error.code}`,
      ),
    );
  }
  expect(outcomes.at(-1)).toBe('goal_states_exceeded');
  expect(outcomes.length).toBeGreaterThan(2);
  await expect(change(99)).rejects.toMatchObject({ kind: 'rate_limited', retryAfter: 600 });
  const shownAt = new Date(now).toISOString();
  const { refusals } = (await getInstanceView({ ...ctx, now: new Date(now) }, { vmId: agent.vmId })).agent;
  expect(refusals).toEqual([{ code: 'goal_states_exceeded', at: shownAt, limitBytes: 20_000 }]);
  expect((await agent.call('/goal-state')).status, 'the agent is not limited').toBe(200);
  now += 3_601_000;
  await expect(change(100)).resolves.toMatchObject({ incarnation: expect.any(Number) });
});
