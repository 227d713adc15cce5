import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { handlerVersions } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import { issueEnrollmentToken } from '#server/domain/enrollment/index.ts';
import { removeExtension } from '#server/domain/goal-states/index.ts';
import { endHolds, holdVm, releaseHold } from '#server/domain/holds/index.ts';
import { removeVm } from '#server/domain/vm-lifecycle/index.ts';
import {
  type AgentDoor,
  type GivenAgent,
  givenAgent,
  givenProbe,
  openAgentDoor,
  openTestDoor,
  singleBlob,
} from '#server/testing/agent-door.ts';
import { newKeyPair } from '#server/testing/key-pair.ts';
import { statementsOf } from '#server/testing/statements.ts';

const bytes = Buffer.from('the bytes of a package');
const sha256 = createHash('sha256').update(bytes).digest('hex');
const reason = 'Patch window';
let ctx: Context;
let door: AgentDoor;
let count = 0;

beforeAll(async () => {
  ({ ctx, door } = await openTestDoor({}, { blobs: singleBlob(sha256, bytes) }));
  await ctx.db.update(handlerVersions).set({ sha256, size: bytes.length });
});
afterAll(() => door.close());

const declare = (vmId: string, word: string) => givenProbe(ctx, vmId, { settings: { publicSettings: { word } } });
const newAgent = () => {
  count += 1;
  return givenAgent(ctx, door, `hold-${count}`);
};

/** Creates an agent whose goal state has the extension `probe`. */
async function agentWithProbe(): Promise<GivenAgent & { etag: string; text: string }> {
  const agent = await newAgent();
  await declare(agent.vmId, 'first');
  const answer = await agent.call('/goal-state');
  return { ...agent, etag: answer.headers.get('etag') ?? '', text: await answer.text() };
}
const pollWith = (agent: GivenAgent, etag: string, wait = 0) =>
  agent.call(`/goal-state${wait > 0 ? `?wait=${wait}` : ''}`, { headers: { 'if-none-match': etag } });
const wordIn = (text: string): string =>
  (JSON.parse(text) as { extensions: { settings: { publicSettings: { word: string } } }[] }).extensions[0]?.settings
    .publicSettings.word ?? '';

describe('while a VM is held', () => {
  test('until the release, a change is not delivered: polls get 304, or the last text and ETag', async () => {
    const agent = await agentWithProbe();
    await holdVm(ctx, { vmId: agent.vmId, reason });
    await declare(agent.vmId, 'second');
    expect((await pollWith(agent, agent.etag)).status).toBe(304);
    // Requests the goal state without an ETag, like an agent that lost its files.
    const again = await agent.call('/goal-state');
    expect([again.status, again.headers.get('etag'), await again.text()]).toEqual([200, agent.etag, agent.text]);
    await releaseHold(ctx, { vmId: agent.vmId });
    await expect.poll(async () => (await pollWith(agent, agent.etag)).status).toBe(200);
    expect(wordIn(await (await agent.call('/goal-state')).text())).toBe('second');
  });

  test('reports are accepted, and their response names the goal state that the agent has', async () => {
    const agent = await agentWithProbe();
    await holdVm(ctx, { vmId: agent.vmId, reason });
    await declare(agent.vmId, 'second');
    await expect.poll(async () => (await pollWith(agent, agent.etag)).status).toBe(304);
    const handler = { extension: 'probe', version: '1.0.0.0', sequenceNumber: 1, state: 'enabled', command: 'enable' };
    const answer = await agent.call('/reports', {
      method: 'POST',
      body: JSON.stringify({ reportNumber: 1, handlers: [{ ...handler, exitCode: 0, timedOut: false, attempt: 1 }] }),
    });
    expect([answer.status, answer.headers.get('annex-goal-state')]).toEqual([204, agent.etag]);
  });

  test('the packages of the delivered goal state stay available, even after a removal', async () => {
    const agent = await agentWithProbe();
    await holdVm(ctx, { vmId: agent.vmId, reason });
    await removeExtension(ctx, { vmId: agent.vmId, name: 'probe', force: true });
    expect((await agent.call(`/packages/${sha256}`)).status).toBe(200);
    await releaseHold(ctx, { vmId: agent.vmId });
    expect((await agent.call(`/packages/${sha256}`)).status).toBe(404);
  });

  test('an agent without a delivered goal state gets an empty goal state', async () => {
    const agent = await newAgent();
    await declare(agent.vmId, 'first');
    await holdVm(ctx, { vmId: agent.vmId, reason });
    const answer = await agent.call('/goal-state');
    const etag = answer.headers.get('etag') ?? '';
    expect([answer.status, await answer.json()]).toEqual([
      200,
      expect.objectContaining({ protocol: 1, vmId: agent.vmId, incarnation: 1, extensions: [] }),
    ]);
    await expect.poll(async () => (await pollWith(agent, etag)).status).toBe(304);
  });

  test('another machine that enrolls gets an empty goal state, and the current goal state after the release', async () => {
    const first = await agentWithProbe();
    await holdVm(ctx, { vmId: first.vmId, reason });
    const { enrollmentToken } = await issueEnrollmentToken(ctx, { vmId: first.vmId });
    const enrolled = await fetch(`${door.url}/enroll`, {
      method: 'POST',
      body: JSON.stringify({
        ...{ enrollmentToken, certificate: newKeyPair().certificate },
        agent: { name: 'test', version: '1.0' },
      }),
    });
    const { credential } = (await enrolled.json()) as { credential: string };
    const poll = async () => {
      const answer = await fetch(`${door.url}/goal-state`, { headers: { authorization: `Bearer ${credential}` } });
      return ((await answer.json()) as { extensions: unknown[] }).extensions.length;
    };
    expect(await poll()).toBe(0);
    await releaseHold(ctx, { vmId: first.vmId });
    await expect.poll(poll).toBe(1);
  });

  test('an unchanged poll runs no statement, or one if the agent is not cached', async () => {
    const agent = await agentWithProbe();
    await holdVm(ctx, { vmId: agent.vmId, reason });
    await declare(agent.vmId, 'second');
    const poll = (url: string) =>
      statementsOf(async () => {
        const headers = { 'if-none-match': agent.etag, ...agent.authorization };
        expect((await fetch(`${url}/goal-state`, { headers })).status).toBe(304);
      });
    await expect.poll(() => poll(door.url)).toEqual([]);
    const other = await openAgentDoor(ctx);
    try {
      expect(await poll(other.url)).toHaveLength(1);
    } finally {
      await other.close();
    }
  });
});

describe('polls that are held', () => {
  test('keep waiting during a hold, whatever is changed, until the release', async () => {
    const agent = await agentWithProbe();
    const answer = pollWith(agent, agent.etag, 30);
    let isOpen = true;
    void answer.then(() => {
      isOpen = false;
    });
    await holdVm(ctx, { vmId: agent.vmId, reason });
    await declare(agent.vmId, 'second');
    await holdVm(ctx, { vmId: agent.vmId, reason: 'Storage move' });
    // Once a report takes one statement, the agent is cached again, so the held poll has processed the changes.
    await expect.poll(() => statementsOf(() => agent.call('/reports', { method: 'POST', body: '{}' }))).toHaveLength(1);
    expect(isOpen).toBe(true);
    await releaseHold(ctx, { vmId: agent.vmId });
    const released = Date.now();
    expect(wordIn(await (await answer).text())).toBe('second');
    expect(Date.now() - released).toBeLessThan(1_000);
  });

  test('are answered when the portal ends the hold', async () => {
    const agent = await agentWithProbe();
    const until = new Date(ctx.now.getTime() + 60_000);
    await holdVm(ctx, { vmId: agent.vmId, reason, until: until.toISOString() });
    await declare(agent.vmId, 'second');
    const answer = pollWith(agent, agent.etag, 30);
    expect(await endHolds({ ...ctx, now: until })).toBe(1);
    expect(wordIn(await (await answer).text())).toBe('second');
  });

  test('end with 401 when a held VM is deleted', async () => {
    const agent = await agentWithProbe();
    await holdVm(ctx, { vmId: agent.vmId, reason });
    const answer = pollWith(agent, agent.etag, 30);
    await removeVm(ctx, { vmId: agent.vmId });
    expect((await answer).status).toBe(401);
  });
});

test('a decommissioning waits for the end of the hold, unless it was delivered before the hold', async () => {
  const waits = await agentWithProbe();
  await holdVm(ctx, { vmId: waits.vmId, reason });
  expect(await removeVm(ctx, { vmId: waits.vmId, decommission: true })).toEqual({ deleted: false });
  await expect.poll(async () => (await pollWith(waits, waits.etag)).status).toBe(304);

  const goes = await agentWithProbe();
  await removeVm(ctx, { vmId: goes.vmId, decommission: true });
  const given = async () => {
    const answer = await goes.call('/goal-state');
    return ((await answer.json()) as { extensions: { state: string; sequenceNumber: number }[] }).extensions;
  };
  await expect.poll(given).toMatchObject([{ state: 'uninstall' }]);
  const sequenceNumber = (await given())[0]?.sequenceNumber;
  await holdVm(ctx, { vmId: goes.vmId, reason });
  const removed = { extension: 'probe', version: '1.0.0.0', state: 'removed', command: 'uninstall', exitCode: 0 };
  const report = await goes.call('/reports', {
    method: 'POST',
    body: JSON.stringify({ reportNumber: 1, handlers: [{ ...removed, sequenceNumber, timedOut: false, attempt: 1 }] }),
  });
  expect(report.status).toBe(204);
  await expect.poll(async () => (await goes.call('/goal-state')).status).toBe(401);
});
