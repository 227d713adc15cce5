import { buffer } from 'node:stream/consumers';
import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { auditEntries } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import { removeExtension } from '#server/domain/goal-states/index.ts';
import { clearLogs, listArchives, openArchive, requestArchive } from '#server/domain/logs/index.ts';
import { defaultLimits } from '#server/platform/limits.ts';
import { readActs } from '#server/testing/acts.ts';
import { type AgentDoor, type GivenAgent, givenAgent, givenProbe, openTestDoor } from '#server/testing/agent-door.ts';
import { testContext } from '#server/testing/context.ts';

const handler = 'Acme.Lab.Probe';
const archiveBytes = 64 * 1024;

let ctx: Context;
let door: AgentDoor;
let count = 0;

beforeAll(async () => {
  const limits = { ...defaultLimits, logs: { ...defaultLimits.logs, archiveBytes } };
  ({ ctx, door } = await openTestDoor({ limits }));
});
afterAll(() => door.close());

/**
 * Creates a VM whose extension with the handler was removed. Returns the VM's agent, and the ETag of the goal state
 * that the agent has fetched.
 */
async function givenMachine(): Promise<{ agent: GivenAgent; etag: string }> {
  count += 1;
  const agent = await givenAgent(ctx, door, `archives-${count}`);
  const { vmId } = agent;
  await givenProbe(ctx, vmId);
  await removeExtension(ctx, { vmId, name: 'probe' });
  return { agent, etag: (await agent.call('/goal-state')).headers.get('etag') ?? '' };
}

const wanted = async (agent: GivenAgent) =>
  ((await (await agent.call('/log-requests')).json()) as { requests: { id: string; handler: string }[] }).requests;
const put = (agent: GivenAgent, id: string, body: string | Buffer<ArrayBuffer>, type = 'application/gzip') =>
  agent.call(`/log-requests/${id}/archive`, { method: 'PUT', body, headers: { 'content-type': type } });

test('AZ-G11 a request ends a held poll, and the agent sends the archive, even after an uninstall', async () => {
  const { agent, etag } = await givenMachine();
  const { vmId } = agent;
  const held = agent.call('/goal-state?wait=30', { headers: { 'if-none-match': etag } });
  const asked = await requestArchive(ctx, { vmId, handler });
  const began = Date.now();
  const answer = await held;
  expect([answer.status, answer.headers.get('annex-log-requests')]).toEqual([304, '1']);
  expect(Date.now() - began).toBeLessThan(5_000);
  const report = await agent.call('/reports', { method: 'POST', body: '{}' });
  expect(report.headers.get('annex-log-requests')).toBe('1');
  expect(await wanted(agent)).toEqual([{ id: asked.id, handler }]);

  const archive = Buffer.from('an archive, whatever it holds');
  expect((await put(agent, asked.id, archive)).status).toBe(204);
  expect((await put(agent, asked.id, 'something else later')).status).toBe(204);
  expect(await wanted(agent)).toEqual([]);
  const poll = await agent.call('/goal-state', { headers: { 'if-none-match': etag } });
  expect([poll.status, poll.headers.get('annex-log-requests')]).toEqual([304, null]);

  const { handlers, items } = await listArchives(ctx, { vmId });
  expect(handlers).toEqual([handler]);
  expect(items).toMatchObject([{ id: asked.id, state: 'there', size: archive.length, form: 'tar.gz' }]);
  const { bytes } = await openArchive(ctx, { vmId, archiveId: asked.id });
  expect(await buffer(bytes)).toEqual(archive);
  const acts = await readActs(ctx.db, eq(auditEntries.vmId, vmId));
  expect(acts.map(({ action }) => action)).toEqual(expect.arrayContaining(['logs.request', 'logs.send']));
});

test('AZ-G11 another request ends a held poll too', async () => {
  const { agent, etag } = await givenMachine();
  const poll = () => agent.call('/goal-state?wait=30', { headers: { 'if-none-match': etag } });
  for (const _ of ['first', 'second']) {
    const held = poll();
    const { id } = await requestArchive(ctx, { vmId: agent.vmId, handler });
    const began = performance.now();
    expect((await held).headers.get('annex-log-requests')).toBe('1');
    expect(performance.now() - began).toBeLessThan(5_000);
    expect((await put(agent, id, '')).status).toBe(204);
  }
});

test('AZ-G11 another request between two polls is delivered immediately', async () => {
  const { agent, etag } = await givenMachine();
  const poll = () => agent.call('/goal-state?wait=30', { headers: { 'if-none-match': etag } });
  for (const _ of ['first', 'second']) {
    const { id } = await requestArchive(ctx, { vmId: agent.vmId, handler });
    expect((await poll()).headers.get('annex-log-requests')).toBe('1');
    expect((await put(agent, id, '')).status).toBe(204);
  }
});

test('an agent that cannot send logs is woken once, and then its polls are held again', async () => {
  const { agent, etag } = await givenMachine();
  await requestArchive(ctx, { vmId: agent.vmId, handler });
  const poll = async () => {
    const began = performance.now();
    const answer = await agent.call('/goal-state?wait=1', { headers: { 'if-none-match': etag } });
    expect([answer.status, answer.headers.get('annex-log-requests')]).toEqual([304, '1']);
    return performance.now() - began >= 900;
  };
  // After a log request, only the next poll returns immediately.
  expect([await poll(), await poll()]).toEqual([false, true]);
});

test('repeated requests count as one; an archive can be empty; a request is late after a day', async () => {
  const { agent } = await givenMachine();
  const { vmId } = agent;
  const first = await requestArchive(ctx, { vmId, handler });
  expect((await requestArchive(ctx, { vmId, handler })).id).toBe(first.id);
  expect((await put(agent, first.id, '')).status).toBe(204);
  expect((await listArchives(ctx, { vmId })).items).toMatchObject([{ state: 'empty', size: null }]);
  await expect(openArchive(ctx, { vmId, archiveId: first.id })).rejects.toMatchObject({ code: 'archive_unknown' });

  await requestArchive(ctx, { vmId, handler });
  const tomorrow = { ...ctx, now: new Date(Date.now() + 25 * 3_600_000) };
  expect((await listArchives(tomorrow, { vmId })).items.map(({ state }) => state)).toEqual(['late', 'empty']);
});

test('an archive expires after its retention period, together with its bytes', async () => {
  const { agent } = await givenMachine();
  const { id } = await requestArchive(ctx, { vmId: agent.vmId, handler });
  await put(agent, id, 'kept for a month');
  await clearLogs(ctx, new Date(Date.now() + (ctx.config.keptDays.logs + 1) * 86_400_000));
  expect((await listArchives(ctx, { vmId: agent.vmId })).items).toEqual([]);
  expect(await ctx.blobs.list(new Date(Date.now() + 60_000))).toEqual([]);
});

describe('rejected requests', () => {
  let agent: GivenAgent;
  let id: string;
  beforeAll(async () => {
    ({ agent } = await givenMachine());
    ({ id } = await requestArchive(ctx, { vmId: agent.vmId, handler }));
  });

  test('an archive that was not requested, or was requested from another VM', async () => {
    const { agent: other } = await givenMachine();
    expect((await put(other, id, 'x')).status).toBe(404);
    expect((await put(agent, '00000000-0000-4000-8000-000000000000', 'x')).status).toBe(404);
  });

  test('an archive that is too large, or of another content type', async () => {
    const refused = await put(agent, id, Buffer.alloc(archiveBytes + 1));
    expect(refused.status).toBe(413);
    expect(await refused.json()).toMatchObject({ code: 'archive_too_large' });
    expect((await put(agent, id, 'x', 'text/plain')).status).toBe(415);
    expect(await wanted(agent)).toHaveLength(1);
  });

  test('a caller who is not an operator', async () => {
    const viewer = await testContext({ role: 'viewer', services: ctx });
    await expect(requestArchive(viewer, { vmId: agent.vmId, handler })).rejects.toMatchObject({ kind: 'forbidden' });
  });
});
