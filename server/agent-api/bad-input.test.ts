import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Context } from '#server/domain/context.ts';
import { defaultLimits } from '#server/platform/limits.ts';
import { type AgentDoor, type GivenAgent, givenAgent, givenProbe, openTestDoor } from '#server/testing/agent-door.ts';

let ctx: Context;
let door: AgentDoor;
let agent: GivenAgent;
let lastCode = 0;

beforeAll(async () => {
  const limits = { ...defaultLimits, http: { ...defaultLimits.http, requestMs: 400 } };
  ({ ctx, door } = await openTestDoor({ limits }));
  agent = await givenAgent(ctx, door, 'hostile');
  await givenProbe(ctx, agent.vmId);
  await agent.call('/goal-state');
  await report({ statuses: [statusEntry({ code: 1 })] });
});
afterAll(() => door.close());

const statusEntry = (status: object, entry: object = {}) => ({
  extension: 'probe',
  sequenceNumber: 1,
  ageSeconds: 1,
  readSecondsAgo: 0,
  file: [{ version: 1.0, timestampUTC: '2026-01-01T00:00:00Z', status: { status: 'warning', ...status } }],
  ...entry,
});
const report = (body: object) => agent.call('/reports', { method: 'POST', body: JSON.stringify(body) });

/** Checks that the portal still accepts the agent's next report. */
afterEach(async () => {
  const { rows } = await ctx.db.$client.query<{ code: number }>(
    `select (status ->> 'code')::float8 as code from extension_latest where vm_id = $1`,
    [agent.vmId],
  );
  expect(rows).toEqual([{ code: lastCode + 1 }]);
  lastCode += 1;
  expect((await report({ statuses: [statusEntry({ code: lastCode + 1 })] })).status).toBe(204);
});

/** Sends bytes unchanged, and reads until the connection closes. */
async function raw(bytes: string | Buffer, further: (socket: Socket) => void = () => {}): Promise<string> {
  const socket = connect(door.serving.port, '127.0.0.1');
  socket.on('error', () => {});
  await once(socket, 'connect');
  socket.write(bytes);
  further(socket);
  return text(socket);
}
const post = (headers: string) =>
  `POST /agent/v1/reports HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${agent.credential}\r\n${headers}\r\n\r\n`;

describe('malformed HTTP ends only its own connection', () => {
  test.each<[string, () => string, RegExp]>([
    ['two lengths', () => `${post('Content-Length: 2\r\nContent-Length: 4')}{}{}`, /^HTTP\/1\.1 400 /],
    [
      'length and chunks',
      () => `${post('Content-Length: 2\r\nTransfer-Encoding: chunked')}0\r\n\r\n`,
      /^HTTP\/1\.1 400 /,
    ],
    ['chunks that are not last', () => `${post('Transfer-Encoding: chunked, identity')}0\r\n\r\n`, /^HTTP\/1\.1 400 /],
    ['an invalid chunk size', () => `${post('Transfer-Encoding: chunked')}zz\r\n{}\r\n0\r\n\r\n`, /^HTTP\/1\.1 400 /],
    [
      'a chunk longer than its size',
      () => `${post('Transfer-Encoding: chunked')}1\r\n{}\r\n0\r\n\r\n`,
      /^HTTP\/1\.1 400 /,
    ],
    ['a header folded over two lines', () => `${post('X: a\r\n b\r\nContent-Length: x')}`, /^HTTP\/1\.1 400 /],
    ['a negative length', () => post('Content-Length: -1'), /^HTTP\/1\.1 400 /],
    ['a body that ends early', () => `${post('Content-Length: 100')}{`, /^HTTP\/1\.1 408 /],
    ['headers without end', () => post('X: y').slice(0, -2), /^HTTP\/1\.1 408 /],
    ['headers above the limit', () => post(`X: ${'y'.repeat(20_000)}`), /^HTTP\/1\.1 431 /],
    ['a length above the limit', () => post('Content-Length: 99999999999'), /^HTTP\/1\.1 413 .*report_too_large/s],
  ])('%s', async (_, bytes, expected) => {
    expect(await raw(bytes())).toMatch(expected);
  });

  test('a slow sender gets no more time than the limit of one request', async () => {
    let timer: NodeJS.Timeout | undefined;
    const answer = await raw(post('Content-Length: 1000'), (socket) => {
      timer = setInterval(() => socket.write(' '), 50);
    });
    clearInterval(timer);
    expect(answer).toMatch(/^HTTP\/1\.1 408 .*request_too_slow/s);
  });

  test('pipelined requests are answered in order', async () => {
    const one = (body: string) => `${post(`Content-Length: ${body.length}`)}${body}`;
    const poll = `GET /agent/v1/goal-state HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${agent.credential}\r\nConnection: close\r\n\r\n`;
    const answers = await raw(one('{}') + one('{') + one('{}') + poll);
    expect(answers.match(/HTTP\/1\.1 \d+/g)).toEqual([204, 400, 204, 200].map((code) => `HTTP/1.1 ${code}`));
  });
});

type Body = string | Buffer;

describe('a body', () => {
  test.each<[string, Body, number, RegExp, Record<string, string>?]>([
    ['that is not UTF-8', Buffer.from([0x7b, 0xff, 0x7d]), 400, /json_not_utf8/],
    ['of 50,000 brackets', '['.repeat(50_000) + ']'.repeat(50_000), 400, /json_too_deep/],
    ['of deeply nested objects', `${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}`, 400, /json_too_deep/],
    ['with a duplicate property', '{"run":"a","run":"b"}', 400, /json_duplicate_key/],
    ['with a duplicate property in other spelling', '{"run":"a","r\\u0075n":"b"}', 400, /json_duplicate_key/],
    [
      'that is a gzip bomb',
      gzipSync(Buffer.alloc(64 * 1024 * 1024, ' ')),
      413,
      /report_too_large/,
      { 'content-encoding': 'gzip' },
    ],
    [
      'that is a gzip bomb in gzip',
      gzipSync(gzipSync(Buffer.alloc(4 * 1024 * 1024))),
      400,
      /json/,
      { 'content-encoding': 'gzip' },
    ],
    ['in an unsupported encoding', '{}', 415, /encoding_unknown/, { 'content-encoding': 'gzip, gzip' }],
  ])('%s is rejected with its reason', async (_, body, code, reason, headers = {}) => {
    const bytes = typeof body === 'string' ? body : new Uint8Array(body);
    const answer = await agent.call('/reports', { method: 'POST', body: bytes, headers });
    expect(answer.status).toBe(code);
    expect(await answer.text()).toMatch(reason);
  });

  test.each<[string, string]>([
    ['with __proto__ and constructor', '{"__proto__":{"run":7},"constructor":{"prototype":{"x":1}},"reportNumber":1}'],
    ['with a clock years behind', '{"agentTime":"1970-01-01T00:00:00Z"}'],
    ['with a clock years ahead', '{"agentTime":"9999-12-31T23:59:59Z"}'],
    ['with a byte-order mark', '\ufeff{}'],
    ['with huge numbers in unknown properties', '{"x":1e400,"y":123456789012345678901234567890}'],
  ])('%s is accepted', async (_, body) => {
    expect((await agent.call('/reports', { method: 'POST', body })).status).toBe(204);
    expect(({} as { run?: unknown }).run).toBeUndefined();
  });
});

describe('an entry', () => {
  test.each<[string, () => object, RegExp]>([
    ['a sequence number from the future', () => statusEntry({}, { sequenceNumber: 99 }), /sequence_unknown/],
    [
      'a sequence number beyond 2^53',
      () => statusEntry({}, { sequenceNumber: 2 ** 60 }),
      /"path":"\/statuses\/0\/sequenceNumber"/,
    ],
    ['a negative sequence number', () => statusEntry({}, { sequenceNumber: -1 }), /field_too_small/],
    ['a code beyond 2^53', () => statusEntry({ code: 2 ** 60 }), /"path":"\/statuses\/0\/file\/0\/status\/code"/],
    ['an age of a century', () => statusEntry({}, { ageSeconds: 3_200_000_000 }), /field_too_(large|big)/],
    ['an extension that does not exist', () => statusEntry({}, { extension: '__proto__' }), /extension_unknown/],
    ['deeply nested substatuses', () => statusEntry(nested(9)), /substatus_too_deep/],
  ])('%s is rejected by its path, and the other entries are stored', async (_, entry, reason) => {
    const answer = await report({ statuses: [entry(), statusEntry({ code: lastCode + 1 })] });
    expect(answer.status).toBe(207);
    const text = await answer.text();
    expect(text).toMatch(reason);
    expect(JSON.parse(text)).toMatchObject({ stored: 1 });
  });

  test('replaces NUL and lone surrogates', async () => {
    const odd = JSON.stringify({ statuses: [statusEntry({ code: lastCode + 1, name: 'a\u0000b\ud800' })] });
    expect((await agent.call('/reports', { method: 'POST', body: odd })).status).toBe(204);
    const { rows } = await ctx.db.$client.query(
      `select status ->> 'name' as name from extension_latest where vm_id = $1`,
      [agent.vmId],
    );
    expect(rows).toEqual([{ name: 'a\ufffdb\ufffd' }]);
  });
});

const nested = (depth: number): { substatus: object[] } => ({
  substatus: depth === 0 ? [] : [{ status: 'success', ...nested(depth - 1) }],
});
