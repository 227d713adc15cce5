import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bootstrapPeople, createAuthHandler, endSession, openSignIn } from '#server/auth/index.ts';
import { createInvitation } from '#server/auth/invitations/index.ts';
import { setSignInRules } from '#server/auth/rules/index.ts';
import { createToken } from '#server/auth/tokens/index.ts';
import type { Services } from '#server/domain/context.ts';
import { type Live, openLive } from '#server/live/index.ts';
import type { RequestPeer } from '#server/rest/create-door.ts';
import { createDownloadHandler } from '#server/rest/download.ts';
import { testBootstrap, testContext, testServices } from '#server/testing/context.ts';
import { serve } from '#server/testing/serve.ts';
import { createPageCaller, createTrpcHandler, type TrpcDoor } from './door.ts';

const log = pino({ level: 'silent' });
const person = { email: 'ada@example.org', password: 'correct horse battery' };
const ours = 'http://localhost:3000';
let services: Services;
let live: Live;
let door: TrpcDoor;
let cookie: string;

beforeAll(async () => {
  services = await testServices({ config: { bootstrap: { token: 'b'.repeat(32), person } } });
  await bootstrapPeople(services);
  live = openLive(services.wakes, services.config.limits.streams);
  door = { services, live, signIn: openSignIn(services, log), log };
  cookie = await signedIn();
});

afterAll(() => live.close());

async function signedIn(): Promise<string> {
  const response = await createAuthHandler(
    services,
    door.signIn,
    log,
  )(
    new Request(`${ours}/api/auth/sign-in/email`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: ours },
      body: JSON.stringify(person),
    }),
  );
  return (response.headers.getSetCookie()[0] ?? '').split(';')[0] ?? '';
}

const start = () => {
  const handle = createTrpcHandler(door);
  return serve((request) => handle(request));
};

const invite = { json: { role: 'viewer' } };
const post = (url: string, headers: Record<string, string>, body: unknown) =>
  fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });

interface Shape {
  error?: { json: { message: string; data: Record<string, unknown> } };
  result?: { data: { json: unknown } };
}
const shape = async (response: Response) => (await response.json()) as Shape;

describe('origin is checked on every change', () => {
  const foreign: [string, Record<string, string>][] = [
    ['another site', { origin: 'https://evil.example' }],
    ['a sandboxed page', { origin: 'null' }],
    ['no page', {}],
    ['a sibling site', { origin: ours, 'sec-fetch-site': 'same-site' }],
  ];

  test.each(foreign)('%s: single call', async (_name, headers) => {
    const response = await post(`${await start()}/api/trpc/invitations.create`, { cookie, ...headers }, invite);
    expect(response.status).toBe(403);
    expect((await shape(response)).error?.json.data).toMatchObject({ code: 'origin_refused', httpStatus: 403 });
  });

  test.each(foreign)('%s: batch', async (_name, headers) => {
    const url = `${await start()}/api/trpc/invitations.create,tokens.create?batch=1`;
    const body = { 0: invite, 1: { json: { name: 'ci', role: 'admin' } } };
    const response = await post(url, { cookie, ...headers }, body);
    const shapes = (await response.json()) as Shape[];
    expect(shapes.map(({ error }) => error?.json.data.code)).toEqual(['origin_refused', 'origin_refused']);
  });

  test('rejects a subscription from another site', async () => {
    const url = `${await start()}/api/trpc/live.changes`;
    const response = await fetch(url, { headers: { cookie, origin: 'https://evil.example' } });
    expect(await response.text()).toContain('origin_refused');
  });

  test('rejects a mutation by GET', async () => {
    const response = await fetch(`${await start()}/api/trpc/invitations.create?input=%7B%7D`, { headers: { cookie } });
    expect(response.status).toBe(405);
  });

  test("accepts the portal's own page", async () => {
    const response = await post(`${await start()}/api/trpc/invitations.create`, { cookie, origin: ours }, invite);
    expect(response.status).toBe(200);
  });
});

describe('the caller', () => {
  test('is anonymous without a cookie, whatever token it sends', async () => {
    const { value } = await createToken(await testContext({ services, actor: testBootstrap }), {
      name: 'ci',
      role: 'admin',
    });
    const url = `${await start()}/api/trpc/members.list`;
    for (const token of [value, 'b'.repeat(32)]) {
      const asHeader = await fetch(url, { headers: { authorization: `Bearer ${token}` } });
      const asCookie = await fetch(url, { headers: { cookie: `annex.session_token=${token}` } });
      expect([asHeader.status, asCookie.status]).toEqual([401, 401]);
    }
    expect((await fetch(url, { headers: { cookie } })).status).toBe(200);
  });

  test('reaches only their own account while they must set up a second factor', async () => {
    const base = await start();
    const own = await signedIn();
    const codeOf = async (response: Response) => (await shape(response)).error?.json.data.code ?? 'done';
    const read = async (path: string) => codeOf(await fetch(`${base}/api/trpc/${path}`, { headers: { cookie: own } }));
    const change = async (path: string, json: unknown = {}) =>
      codeOf(await post(`${base}/api/trpc/${path}`, { cookie: own, origin: ours }, { json }));
    await setSignInRules(await testContext({ services }), { requireFactor: true });
    try {
      expect([await read('account.get'), await read('account.sessions')]).toEqual(['done', 'done']);
      expect([await change('account.startTotp'), await change('account.startPasskey')]).toEqual(['done', 'done']);
      expect(await change('account.addTotp', { code: '000000' })).toMatch(/^(code_wrong|done)$/);
      for (const path of ['fleet.list', 'members.list', 'activity.list', 'packages.drafts', 'signIn.rules']) {
        expect(`${path} ${await read(path)}`).toBe(`${path} factor_required`);
      }
      expect(await change('signIn.setRules', { requireFactor: false })).toBe('factor_required');
      const live = await fetch(`${base}/api/trpc/live.changes`, { headers: { cookie: own } });
      expect(await live.text()).toContain('factor_required');
      for (const path of ['/download/vms.csv', '/download/activity.jsonl']) {
        const download = createDownloadHandler({ ...services, log });
        const request = new Request(`${ours}${path}`, { headers: { cookie: own } });
        const response = await download(request, { remoteAddress: '192.0.2.1' } as RequestPeer);
        expect([response.status, ((await response.json()) as { code: string }).code]).toEqual([403, 'factor_required']);
      }
    } finally {
      await setSignInRules(await testContext({ services }), { requireFactor: false });
    }
    expect(await read('fleet.list')).not.toBe('factor_required');
  });

  test('gets responses that are not cached', async () => {
    const response = await fetch(`${await start()}/api/trpc/members.me`, { headers: { cookie } });
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect((await shape(response)).result?.data.json).toMatchObject({ name: 'ada', role: 'admin' });
  });

  test('is signed in by the same response when joining with a link', async () => {
    const { link } = await createInvitation(await testContext({ services, actor: testBootstrap }), { role: 'viewer' });
    const token = new URL(link).searchParams.get('token');
    const base = await start();
    const joining = { token, name: 'Vera', email: 'Vera@Example.org', password: 'a long enough pass' };
    const response = await post(`${base}/api/trpc/invitations.redeem`, { origin: ours }, { json: joining });
    expect((await shape(response)).result?.data.json).toMatchObject({ name: 'Vera', role: 'viewer' });
    const own = (response.headers.getSetCookie()[0] ?? '').split(';')[0] ?? '';
    const asked = await fetch(`${base}/api/trpc/members.me`, { headers: { cookie: own } });
    expect((await shape(asked)).result?.data.json).toMatchObject({ name: 'Vera' });
    expect((await fetch(`${base}/api/trpc/members.list`, { headers: { cookie: own } })).status).toBe(403);
  });

  test('can be a page in this process, which reads as the signed-in member and changes nothing', async () => {
    expect(await createPageCaller(door, new Headers()).members.me()).toBeNull();
    const followed = new Headers({ cookie, 'sec-fetch-site': 'cross-site' });
    expect(await createPageCaller(door, followed).members.me()).toMatchObject({ name: 'ada' });
    const caller = createPageCaller(door, new Headers({ cookie, origin: ours, 'sec-fetch-site': 'same-origin' }));
    await expect(caller.tokens.create({ name: 'x', role: 'admin' })).rejects.toMatchObject({
      code: 'FORBIDDEN',
      cause: { code: 'origin_refused' },
    });
  });
});

describe('errors', () => {
  test("list all faults with their paths, in the user's language, with a request id", async () => {
    const url = `${await start()}/api/trpc/tokens.create`;
    const headers = { cookie, origin: ours, 'accept-language': 'de' };
    const response = await post(url, headers, { json: { name: '', role: 'king' } });
    expect(response.status).toBe(422);
    const { error } = await shape(response);
    expect(error?.json.data).toMatchObject({
      code: 'invalid',
      title: 'Ungültige Eingabe',
      faults: [{ path: '/name' }, { path: '/role', code: 'field_choice' }],
      requestId: expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
    expect(error?.json.data).not.toHaveProperty('stack');
    expect(error?.json.message).toBe(error?.json.data.message);
  });

  test.each<[string, string, string, number, string]>([
    ['an unknown procedure', 'members.nothing', '{}', 404, 'call_unknown'],
    ['a body that is not JSON', 'tokens.create', '{ MARKER', 400, 'call_unreadable'],
    ['a body that is not a call', 'tokens.create', '"MARKER"', 422, 'invalid'],
  ])('%s', async (_name, path, body, status, code) => {
    const response = await post(`${await start()}/api/trpc/${path}`, { cookie, origin: ours }, body);
    const text = await response.text();
    expect([response.status, text.includes('MARKER')]).toEqual([status, false]);
    expect((JSON.parse(text) as Shape).error?.json.data.code).toBe(code);
  });

  test.each(['a\u0000', 'half \ud800'])('reject a text that the database cannot store: %j', async (name) => {
    const base = await start();
    const response = await post(
      `${base}/api/trpc/tokens.create`,
      { cookie, origin: ours },
      { json: { name, role: 'viewer' } },
    );
    const data = (await shape(response)).error?.json.data;
    expect([response.status, data]).toMatchObject([422, { faults: [{ path: '/name', code: 'json_character' }] }]);
  });

  test('reject input that is nested too deeply', async () => {
    const deep = `{"json":{"name":"x","version":"1.0.0","parameters":${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}}}`;
    const response = await post(`${await start()}/api/trpc/runbooks.save`, { cookie, origin: ours }, deep);
    expect([response.status, (await shape(response)).error?.json.data.code]).toEqual([422, 'json_too_deep']);
  });

  test('show only the request id of an unexpected error, and log the details', async () => {
    const lines: string[] = [];
    const broken = {
      ...services,
      db: {
        ...services.db,
        select: () => {
          throw new Error('MARKER inside');
        },
      },
    };
    const handle = createTrpcHandler({
      ...door,
      services: broken as unknown as Services,
      log: pino({}, { write: (line: string) => lines.push(line) }),
    });
    const response = await fetch(`${await serve(handle)}/api/trpc/members.me`, { headers: { cookie } });
    const text = await response.text();
    expect([response.status, text.includes('MARKER')]).toEqual([500, false]);
    const { requestId } = (JSON.parse(text) as Shape).error?.json.data ?? {};
    expect(lines.join()).toContain('MARKER inside');
    expect(lines.join()).toContain(String(requestId));
  });

  test('the first page of a list accepts a null cursor', async () => {
    const first = encodeURIComponent(JSON.stringify({ json: { limit: 1, cursor: null, direction: 'forward' } }));
    const wrong = encodeURIComponent(JSON.stringify({ json: { limit: 1, cursor: 7, direction: 'forward' } }));
    const base = `${await start()}/api/trpc`;
    for (const list of ['fleet.list', 'handlers.list', 'publishers.list']) {
      const response = await fetch(`${base}/${list}?input=${first}`, { headers: { cookie } });
      expect((await shape(response)).result?.data.json, list).toEqual({ items: [], nextCursor: null });
      expect((await fetch(`${base}/${list}?input=${wrong}`, { headers: { cookie } })).status).toBe(422);
    }
  });

  test.each([
    ['a list without its input', 'activity.list', {}, 200],
    ['a list with null as input', 'fleet.list', { json: null }, 200],
    ['a VM that is not named', 'instanceViews.get', { json: null }, 422],
    ['history of a VM that is not named', 'instanceViews.history', {}, 422],
    [
      'a goal state number beyond the stored range',
      'goalStates.previewRevert',
      { json: { incarnation: 2 ** 31 } },
      422,
    ],
    ['goal state numbers beyond the stored range', 'goalStates.compare', { json: { from: 2 ** 31, to: 2 ** 31 } }, 422],
  ])('%s', async (_name, path, input, status) => {
    const { json } = input as { json?: object | null };
    const asked = json ? { json: { vmId: '01890000-0000-7000-8000-000000000000', ...json } } : input;
    const query = encodeURIComponent(JSON.stringify(asked));
    const response = await fetch(`${await start()}/api/trpc/${path}?input=${query}`, { headers: { cookie } });
    expect(response.status).toBe(status);
  });

  test('an unavailable database is 503 with Retry-After', async () => {
    const own = await testServices();
    await own.db.$client.end();
    const base = await serve(createTrpcHandler({ ...door, services: { ...own, keys: services.keys } }));
    const response = await fetch(`${base}/api/trpc/members.me`, { headers: { cookie } });
    expect(response.status).toBe(503);
    expect((await shape(response)).error?.json.data).toMatchObject({ code: 'database_away', retryAfter: 2 });
    const stream = await fetch(`${base}/api/trpc/live.changes`, { headers: { cookie } });
    expect(await stream.text()).toContain('database_away');
  });

  test('oversized batches and bodies are rejected', async () => {
    const base = await start();
    const paths = Array(51).fill('members.me').join(',');
    const many = await fetch(`${base}/api/trpc/${paths}?batch=1&input=%7B%7D`, { headers: { cookie } });
    expect(many.status).toBe(400);
    const long = await post(`${base}/api/trpc/tokens.create`, { cookie, origin: ours }, 'x'.repeat(1_100_000));
    expect([long.status, ((await long.json()) as { code: string }).code]).toEqual([413, 'body_too_large']);
  });
});

describe('live', () => {
  test('a change by one member reaches the open page of another member within a second', async () => {
    const base = await start();
    const own = await signedIn();
    const controller = new AbortController();
    const response = await fetch(`${base}/api/trpc/live.changes`, {
      headers: { cookie: own },
      signal: controller.signal,
    });
    expect(response.headers.get('content-type')).toContain('text/event-stream');
    const events = eventsOf(response);
    expect((await events.next()).value).toMatch(/^event: connected/);
    expect((await events.next()).value).toContain('"changes":[]');
    const made = await post(`${base}/api/trpc/invitations.create`, { cookie, origin: ours }, invite);
    const before = Date.now();
    const { result } = await shape(made);
    const { id = '' } = (result?.data.json ?? {}) as { id?: string };
    const heard = await heardOf(events, id);
    expect(Date.now() - before).toBeLessThan(1_000);
    expect(heard).toMatch(/"topic":"invitation"/);
    controller.abort();
  });

  test('a connection closes immediately with its session, and with the process', async () => {
    const closing = new AbortController();
    const base = await serve((request) => createTrpcHandler(door)(request, '192.0.2.1', closing.signal));
    const open = async (own: string) => {
      const events = eventsOf(await fetch(`${base}/api/trpc/live.changes`, { headers: { cookie: own } }));
      await heardOf(events, '"changes":[]');
      return events;
    };
    const own = await signedIn();
    const [mine, other] = [await open(own), await open(cookie)];
    const before = Date.now();
    await endSession(services, new Headers({ cookie: own }));
    expect(await heardOf(mine, 'event: return')).toContain('return');
    closing.abort();
    expect(await heardOf(other, 'event: return')).toContain('return');
    expect(Date.now() - before).toBeLessThan(2_000);
  });

  test('a browser that disconnects frees all resources', async () => {
    const ended = Promise.withResolvers<void>();
    const watched: Live = {
      ...live,
      watch: (options) => {
        options.signal.addEventListener('abort', () => ended.resolve());
        return live.watch(options);
      },
    };
    const gone = new AbortController();
    const base = await serve(createTrpcHandler({ ...door, live: watched }));
    const response = await fetch(`${base}/api/trpc/live.changes`, { headers: { cookie }, signal: gone.signal });
    await heardOf(eventsOf(response), '"changes":[]');
    gone.abort();
    await ended.promise;
  });

  test('anonymous callers receive nothing', async () => {
    const response = await fetch(`${await start()}/api/trpc/live.changes`);
    expect(await response.text()).toContain('unauthenticated');
  });

  async function* eventsOf(response: Response): AsyncGenerator<string> {
    let text = '';
    for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += chunk;
      for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
        yield text.slice(0, end);
        text = text.slice(end + 2);
      }
    }
  }

  async function heardOf(events: AsyncGenerator<string>, what: string): Promise<string> {
    for (;;) {
      // Does not use `for await`, because leaving the loop would close the connection.
      const { value, done } = await events.next();
      if (done || value.includes(what)) return value ?? '';
    }
  }
});
