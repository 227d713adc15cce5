import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Context } from '#server/domain/context.ts';
import { removeExtension } from '#server/domain/goal-states/index.ts';
import { type AgentDoor, type GivenAgent, givenAgent, givenProbe, openTestDoor } from '#server/testing/agent-door.ts';
import { statementsOf } from '#server/testing/statements.ts';

let ctx: Context;
let door: AgentDoor;
let count = 0;

beforeAll(async () => {
  ({ ctx, door } = await openTestDoor());
});
afterAll(() => door.close());

async function agentWithProbe(): Promise<GivenAgent & { report(body: unknown): Promise<Response> }> {
  count += 1;
  const agent = await givenAgent(ctx, door, `report-${count}`);
  await givenProbe(ctx, agent.vmId);
  await agent.call('/goal-state');
  return {
    ...agent,
    report: (body) => agent.call('/reports', { method: 'POST', body: JSON.stringify(body) }),
  };
}
const heartbeat = (change: Record<string, unknown> = {}) => ({
  extension: 'probe',
  ageSeconds: 4,
  readSecondsAgo: 0,
  file: [{ version: 1.0, heartbeat: { status: 'ready' } }],
  ...change,
});

test("204 after the commit, with the goal state's ETag: a report is also a poll", async () => {
  const agent = await agentWithProbe();
  const answer = await agent.report({ reportNumber: 1, heartbeats: [heartbeat()] });
  expect(answer.status).toBe(204);
  const { rows } = await ctx.db.$client.query('select heartbeat from extension_latest where vm_id = $1', [agent.vmId]);
  expect(rows).toMatchObject([{ heartbeat: { status: 'ready' } }]);
  const held = (await agent.call('/goal-state')).headers.get('etag');
  expect(answer.headers.get('annex-goal-state')).toBe(held);
});

test('a report is one statement, shared with queued reports', async () => {
  const agent = await agentWithProbe();
  await agent.report({ reportNumber: 1, heartbeats: [heartbeat()] });
  const [statement, ...others] = await statementsOf(async () => {
    expect((await agent.report({ reportNumber: 2, heartbeats: [heartbeat()] })).status).toBe(204);
  });
  expect(statement).toContain('json_to_recordset');
  expect(others).toEqual([]);
});

test('an empty report shows that the agent is alive', async () => {
  const agent = await agentWithProbe();
  expect((await agent.report({})).status).toBe(204);
});

test('accepts gzip, and limits the decompressed size too', async () => {
  const agent = await agentWithProbe();
  const send = (body: Buffer) =>
    agent.call('/reports', { method: 'POST', body: new Uint8Array(body), headers: { 'content-encoding': 'gzip' } });
  expect((await send(gzipSync(JSON.stringify({ heartbeats: [heartbeat()] })))).status).toBe(204);
  expect((await send(gzipSync(Buffer.alloc(3 * 1024 * 1024, ' ')))).status).toBe(413);
  expect((await send(Buffer.from('no gzip'))).status).toBe(400);
});

test("207 stores the valid entries and lists the faults of invalid entries, in the caller's language", async () => {
  const agent = await agentWithProbe();
  const answer = await agent.call('/reports', {
    method: 'POST',
    headers: { 'accept-language': 'de' },
    body: JSON.stringify({
      heartbeats: [heartbeat(), heartbeat({ extension: 'ghost' }), heartbeat({ ageSeconds: -1 })],
      statuses: [
        { extension: 'probe', sequenceNumber: 99, ageSeconds: 1, readSecondsAgo: 0, file: [status('success')] },
      ],
    }),
  });
  expect(answer.status).toBe(207);
  const { stored, errors } = (await answer.json()) as { stored: number; errors: { path: string; code: string }[] };
  expect(stored).toBe(1);
  expect(errors.map(({ path, code }) => `${path} ${code}`).sort()).toEqual([
    '/heartbeats/1/extension extension_unknown',
    '/heartbeats/2/ageSeconds field_too_small',
    '/statuses/0/sequenceNumber sequence_unknown',
  ]);
});

const status = (word: string) => ({
  version: 1.0,
  timestampUTC: '2026-01-01T00:00:00Z',
  status: { status: word, formattedMessage: { lang: 'en', message: word } },
});

describe('400 names every fault', () => {
  test('if no entry could be stored', async () => {
    const agent = await agentWithProbe();
    const answer = await agent.report({ heartbeats: [heartbeat({ extension: 'ghost' }), 7] });
    expect(answer.status).toBe(400);
    expect(((await answer.json()) as { errors: unknown[] }).errors.length).toBeGreaterThanOrEqual(2);
  });

  test.each([
    ['no JSON', '{'],
    ['not an object', '[]'],
    ['nested too deep', '['.repeat(100) + ']'.repeat(100)],
  ])('%s', async (_, body) => {
    const agent = await agentWithProbe();
    expect((await agent.call('/reports', { method: 'POST', body })).status).toBe(400);
  });
});

test('413 above the limit, 415 for an unknown encoding, 401 without a credential', async () => {
  const agent = await agentWithProbe();
  const large = await agent.call('/reports', { method: 'POST', body: JSON.stringify({ x: 'y'.repeat(1_100_000) }) });
  expect(large.status).toBe(413);
  const encoded = await agent.call('/reports', { method: 'POST', body: '{}', headers: { 'content-encoding': 'br' } });
  expect(encoded.status).toBe(415);
  expect((await fetch(`${door.url}/reports`, { method: 'POST', body: '{}' })).status).toBe(401);
});

test('AZ-S2 the samples of the source document are accepted unchanged', async () => {
  const agent = await agentWithProbe();
  const sample = (name: string): unknown =>
    JSON.parse(readFileSync(new URL(`../../../../protocol/fixtures/${name}.json`, import.meta.url), 'utf8'));
  for (const name of ['status-without-localization', 'status-localized']) {
    const entry = { extension: 'probe', sequenceNumber: 1, ageSeconds: 1, readSecondsAgo: 0, file: sample(name) };
    expect((await agent.report({ statuses: [entry] })).status, name).toBe(204);
  }
  const beat = heartbeat({ file: sample('heartbeat-sample') });
  expect((await agent.report({ heartbeats: [beat] })).status).toBe(204);
  const { rows } = await ctx.db.$client.query('select status, heartbeat from extension_latest where vm_id = $1', [
    agent.vmId,
  ]);
  expect(rows).toMatchObject([
    { status: { status: 'error', code: 12, message: { id: '1215' } }, heartbeat: { status: 'ready', code: 0 } },
  ]);
});

test('a repeated and a late report are 204 and change nothing', async () => {
  const agent = await agentWithProbe();
  const entry = (word: string) => ({
    extension: 'probe',
    sequenceNumber: 1,
    ageSeconds: 1,
    readSecondsAgo: 0,
    file: [status(word)],
  });
  expect((await agent.report({ reportNumber: 5, statuses: [entry('transitioning')] })).status).toBe(204);
  expect((await agent.report({ reportNumber: 5, statuses: [entry('error')] })).status).toBe(204);
  expect((await agent.report({ reportNumber: 4, statuses: [entry('error')] })).status).toBe(204);
  const { rows } = await ctx.db.$client.query('select status from extension_latest where vm_id = $1', [agent.vmId]);
  expect(rows).toMatchObject([{ status: { status: 'transitioning' } }]);
});

test('a removed extension leaves the goal state with the report of its removal', async () => {
  const agent = await agentWithProbe();
  const { sequenceNumber } = await removeExtension(ctx, { vmId: agent.vmId, name: 'probe' });
  const removed = (at: number) => ({
    handlers: [{ extension: 'probe', version: '1.0.0.0', sequenceNumber: at, state: 'removed', command: 'uninstall' }],
  });
  await agent.report(removed(sequenceNumber - 1));
  expect(await (await agent.call('/goal-state')).json()).toMatchObject({ extensions: [{ state: 'uninstall' }] });
  const answer = await agent.report(removed(sequenceNumber));
  expect(answer.status).toBe(204);
  const goalState = await agent.call('/goal-state');
  expect(goalState.headers.get('etag')).toBe(answer.headers.get('annex-goal-state'));
  expect(await goalState.json()).toMatchObject({ extensions: [] });
});
