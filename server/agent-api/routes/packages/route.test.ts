import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { handlerVersions } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import {
  type AgentDoor,
  type GivenAgent,
  givenAgent,
  givenProbe,
  openTestDoor,
  singleBlob,
} from '#server/testing/agent-door.ts';

const bytes = Buffer.from('the bytes of a package');
const sha256 = createHash('sha256').update(bytes).digest('hex');
let ctx: Context;
let door: AgentDoor;
let owner: GivenAgent;
let stranger: GivenAgent;

beforeAll(async () => {
  ({ ctx, door } = await openTestDoor({}, { blobs: singleBlob(sha256, bytes) }));
  await ctx.db.update(handlerVersions).set({ sha256, size: bytes.length });
  owner = await givenAgent(ctx, door, 'owner');
  stranger = await givenAgent(ctx, door, 'stranger');
  await givenProbe(ctx, owner.vmId);
});
afterAll(() => door.close());

test('200 with digest and ETag; 304 for this ETag', async () => {
  const answer = await owner.call(`/packages/${sha256}`);
  expect(answer.status).toBe(200);
  expect(Buffer.from(await answer.arrayBuffer())).toEqual(bytes);
  expect(answer.headers.get('content-length')).toBe(String(bytes.length));
  const digest = createHash('sha256').update(bytes).digest('base64');
  expect(answer.headers.get('repr-digest')).toBe(`sha-256=:${digest}:`);
  const etag = answer.headers.get('etag') ?? '';
  expect((await owner.call(`/packages/${sha256}`, { headers: { 'if-none-match': etag } })).status).toBe(304);
});

test.each([
  ['bytes=4-8', 206, 'bytes 4-8/22', 'bytes'],
  ['bytes=15-', 206, 'bytes 15-21/22', 'package'],
  ['bytes=-7', 206, 'bytes 15-21/22', 'package'],
  ['bytes=15-999', 206, 'bytes 15-21/22', 'package'],
  ['bytes=22-', 416, 'bytes */22', ''],
  ['bytes=-0', 416, 'bytes */22', ''],
  ['bytes=9-3', 200, null, bytes.toString()],
  ['lines=1-2', 200, null, bytes.toString()],
])('Range: %s', async (range, status, contentRange, body) => {
  const answer = await owner.call(`/packages/${sha256}`, { headers: { range } });
  expect(answer.status).toBe(status);
  expect(answer.headers.get('content-range')).toBe(contentRange);
  expect(await answer.text()).toBe(body);
});

test('a VM has at most eight concurrent downloads, and an abandoned download frees its slot', async () => {
  const opened = vi.spyOn(ctx.blobs, 'open').mockImplementation(async () => {
    const stream = new Readable({ read() {} });
    stream.push(bytes.subarray(0, 1));
    return { stream, size: bytes.length };
  });
  const [first, others] = [new AbortController(), new AbortController()];
  const call = ({ signal } = others) => owner.call(`/packages/${sha256}`, { signal });
  const begun = await Promise.all([call(first), ...Array.from({ length: 7 }, () => call())]);
  expect(begun.map(({ status }) => status)).toEqual(Array(8).fill(200));
  const refused = await call();
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '10']);
  expect(await refused.json()).toMatchObject({ code: 'downloads_waiting' });
  first.abort();
  await vi.waitFor(async () => expect((await call()).status).toBe(200));
  expect((await call()).status).toBe(429);
  others.abort();
  opened.mockRestore();
  const whole = await vi.waitFor(async () => {
    const answer = await owner.call(`/packages/${sha256}`);
    expect(answer.status).toBe(200);
    return answer.text();
  });
  expect(whole).toBe(bytes.toString());
});

test('404 both for a package of another VM and for an unknown package', async () => {
  const foreign = await stranger.call(`/packages/${sha256}`);
  const nowhere = await stranger.call(`/packages/${'0'.repeat(64)}`);
  expect([foreign.status, nowhere.status]).toEqual([404, 404]);
  const [a, b] = [await foreign.json(), await nowhere.json()] as Record<string, unknown>[];
  expect({ ...a, requestId: '' }).toEqual({ ...b, requestId: '' });
});
