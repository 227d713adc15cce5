import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bootstrapPeople, createAuthHandler, openSignIn } from '#server/auth/index.ts';
import { createInvitation } from '#server/auth/invitations/index.ts';
import type { Services } from '#server/domain/context.ts';
import { type Live, openLive, openStreams } from '#server/live/index.ts';
import type { Limits } from '#server/platform/limits.ts';
import { testBootstrap, testContext, testServices } from '#server/testing/context.ts';
import { serve } from '#server/testing/serve.ts';
import { createTrpcHandler, type TrpcDoor } from './door.ts';

const log = pino({ level: 'silent' });
/** A long timeout, because a busy machine notices a disconnect late. */
const patience = { timeout: 10_000 };
const ours = 'http://localhost:3000';
const ada = { email: 'ada@example.org', password: 'correct horse battery' };
const bob = { email: 'bob@example.org', password: 'a long enough pass' };
let services: Services;
let live: Live;
let door: TrpcDoor;

beforeAll(async () => {
  services = await testServices({ config: { bootstrap: { token: 'b'.repeat(32), person: ada } } });
  await bootstrapPeople(services);
  live = openLive(services.wakes, services.config.limits.streams);
  door = { services, live, signIn: openSignIn(services, log), log };
  const { link } = await createInvitation(await testContext({ services, actor: testBootstrap }), { role: 'viewer' });
  const token = new URL(link).searchParams.get('token');
  await createTrpcHandler(door)(
    new Request(`${ours}/api/trpc/invitations.redeem`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: ours },
      body: JSON.stringify({ json: { token, name: 'Bob', ...bob } }),
    }),
  );
});

afterAll(() => live.close());

async function signedIn(person: { email: string; password: string }): Promise<string> {
  const request = new Request(`${ours}/api/auth/sign-in/email`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: ours },
    body: JSON.stringify(person),
  });
  const response = await createAuthHandler(services, door.signIn, log)(request);
  return (response.headers.getSetCookie()[0] ?? '').split(';')[0] ?? '';
}

/** Opens an entry point with these limits, and counts its running watches. */
async function opened(limits: Limits['streams']) {
  const streams = openStreams(limits);
  const watches = { running: 0 };
  const watched: Live = {
    ...live,
    streams,
    async *watch(options) {
      watches.running += 1;
      try {
        yield* live.watch(options);
      } finally {
        watches.running -= 1;
      }
    },
  };
  const base = await serve((request) => createTrpcHandler({ ...door, live: watched })(request));
  const open = async (cookie: string, language = 'en') => {
    const leaving = new AbortController();
    const response = await fetch(`${base}/api/trpc/live.changes`, {
      headers: { cookie, 'accept-language': language },
      signal: leaving.signal,
    });
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    while (!/"changes":\[\]|serialized-error[\s\S]*\n\n/.test(text)) {
      const { value, done } = (await reader?.read()) ?? { done: true };
      if (done) break;
      text += value;
    }
    return { status: response.status, retryAfter: response.headers.get('retry-after'), text, leaving };
  };
  return { streams, watches, open };
}

describe('live streams', () => {
  test("above a session's limit, the next stream is 429 with Retry-After; other sessions continue", async () => {
    const { open, streams, watches } = await opened({ perSession: 3, perMember: 5, perProcess: 6 });
    const [one, two, bobs] = [await signedIn(ada), await signedIn(ada), await signedIn(bob)];
    const held = [await open(one), await open(one), await open(one)];
    for (let n = 0; n < 20; n += 1) {
      const rejected = await open(one);
      expect([rejected.status, rejected.retryAfter]).toEqual([429, '15']);
      expect(rejected.text).toContain('session_streams_exceeded');
    }
    expect((await open(one, 'de')).text).toContain(
      'In dieser Sitzung sind bereits 3 Seiten mit Live-Aktualisierung geöffnet',
    );
    held.push(await open(two), await open(two));
    expect(held.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    expect(await open(two)).toMatchObject({ status: 429, text: expect.stringContaining('member_streams_exceeded') });
    held.push(await open(bobs));
    expect(held.at(-1)?.status).toBe(200);
    expect(await open(bobs)).toMatchObject({ status: 503, text: expect.stringContaining('streams_exceeded') });
    expect([streams.held(), watches.running]).toEqual([{ streams: 6, sessions: 3, members: 2 }, 6]);

    held[0]?.leaving.abort();
    await expect.poll(() => streams.held().streams, patience).toBe(5);
    const next = await open(one);
    expect(next.status).toBe(200);
    for (const { leaving } of [...held, next]) leaving.abort();
    await expect.poll(() => streams.held(), patience).toEqual({ streams: 0, sessions: 0, members: 0 });
    await expect.poll(() => watches.running, patience).toBe(0);
  });

  test('a caller that disconnects before its stream starts holds no slot', async () => {
    const { open, streams, watches } = await opened({ perSession: 3, perMember: 5, perProcess: 6 });
    const cookie = await signedIn(ada);
    const base = await serve((request) => createTrpcHandler({ ...door, live: { ...live, streams } })(request));
    await Promise.all(
      Array.from({ length: 30 }, async (_, n) => {
        const leaving = new AbortController();
        const answer = fetch(`${base}/api/trpc/live.changes`, { headers: { cookie }, signal: leaving.signal });
        setTimeout(() => leaving.abort(), n);
        await answer.then((response) => response.text()).catch(() => {});
      }),
    );
    await expect.poll(() => streams.held(), patience).toEqual({ streams: 0, sessions: 0, members: 0 });
    const after = await open(cookie);
    expect([after.status, watches.running]).toEqual([200, 1]);
    after.leaving.abort();
  });

  test('an anonymous caller gets 401 instead of a stream', async () => {
    const { open, streams } = await opened({ perSession: 3, perMember: 5, perProcess: 6 });
    expect(await open('')).toMatchObject({ status: 401, text: expect.stringContaining('unauthenticated') });
    expect(streams.held().streams).toBe(0);
  });
});
