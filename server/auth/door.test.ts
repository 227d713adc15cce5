import { eq, sql } from 'drizzle-orm';
import { pino } from 'pino';
import { beforeAll, describe, expect, test } from 'vitest';
import { accounts, sessions } from '#db/schema/index.ts';
import type { Services } from '#server/domain/context.ts';
import { testServices } from '#server/testing/context.ts';
import { serve } from '#server/testing/serve.ts';
import { bootstrapPeople, createAuthHandler, idleLife, openSignIn, readSession } from './index.ts';
import { hashPassword } from './password-hash.ts';

const log = pino({ level: 'silent' });
const person = { email: 'ada@example.org', password: 'correct horse battery' };
const minute = 60_000;
let services: Services;

beforeAll(async () => {
  services = await testServices({ config: { bootstrap: { token: null, person } } });
  await bootstrapPeople(services);
});

interface Asked {
  origin?: string | null;
  cookie?: string;
  body?: unknown;
  method?: string;
  headers?: Record<string, string>;
}

/** Serves `/api/auth` on a real server. Returns a function that calls it as the portal's page in a browser would. */
async function door(own: Services = services, address = () => '192.0.2.1') {
  const handle = createAuthHandler(own, openSignIn(own, log), log);
  const base = await serve((request) => handle(request, address()));
  return (path: string, asked: Asked = {}) => {
    const { origin = own.config.url, cookie, body = {}, method = 'POST', headers = {} } = asked;
    const sent = new Headers({ 'content-type': 'application/json', ...headers });
    if (origin !== null) sent.set('origin', origin);
    if (cookie !== undefined) sent.set('cookie', cookie);
    return fetch(`${base}/api/auth${path}`, {
      method,
      headers: sent,
      ...(method === 'POST' ? { body: JSON.stringify(body) } : {}),
    });
  };
}

const cookieOf = (response: Response): string => (response.headers.getSetCookie()[0] ?? '').split(';')[0] ?? '';
const codeOf = async (response: Response) => [response.status, ((await response.json()) as { code: string }).code];

describe('sign-in', () => {
  test('sets a cookie that is hidden from scripts and other sites, and shows no token', async () => {
    const response = await (await door())('/sign-in/email', { body: person });
    expect(response.status).toBe(204);
    const [cookie = ''] = response.headers.getSetCookie();
    expect(cookie).toMatch(/^annex\.session_token=/);
    expect(cookie).toMatch(/; HttpOnly/i);
    expect(cookie).toMatch(/; SameSite=Lax/i);
    expect(cookie).toMatch(/; Max-Age=2592000/);
    expect(cookie).not.toMatch(/; Secure/i);
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(await response.text()).toBe('');
  });

  test('behind https the cookie is Secure', async () => {
    const own = { ...services, config: { ...services.config, url: 'https://annex.example' } };
    const response = await (await door(own))('/sign-in/email', { body: person });
    expect(response.headers.getSetCookie()[0]).toMatch(/^__Secure-annex\.session_token=.*; Secure/i);
  });

  test('an unknown member and a wrong password look the same', async () => {
    const call = await door();
    const wrong = await call('/sign-in/email', { body: { ...person, password: 'another password' } });
    const unknown = await call('/sign-in/email', { body: { ...person, email: 'bob@example.org' } });
    expect([await codeOf(wrong), await codeOf(unknown)]).toEqual([
      [401, 'credentials_refused'],
      [401, 'credentials_refused'],
    ]);
  });

  test("rejections are problem documents in the browser's language", async () => {
    const headers = { 'accept-language': 'de' };
    const response = await (await door())('/sign-in/email', { body: { ...person, password: 'x' }, headers });
    expect(response.headers.get('content-type')).toBe('application/problem+json');
    expect(await response.json()).toMatchObject({ detail: 'Die E-Mail-Adresse oder das Passwort ist falsch.' });
  });

  test('failed attempts are limited, even if they are concurrent', async () => {
    const call = await door();
    const wrong = { ...person, password: 'another password' };
    const many = await Promise.all(Array.from({ length: 14 }, () => call('/sign-in/email', { body: wrong })));
    expect(many.map(({ status }) => status).filter((status) => status === 429)).toHaveLength(4);
    const response = await call('/sign-in/email', { body: person });
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await codeOf(response)).toEqual([429, 'too_many_attempts']);
  });
});

test('a password that changes while it is verified starts no session', async () => {
  const call = await door();
  const asked = await services.db.transaction(async (tx) => {
    await tx.update(accounts).set({ password: await hashPassword('another password') });
    const answer = call('/sign-in/email', { body: person });
    const waiting = sql`select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    await expect.poll(async () => (await services.db.execute(waiting)).rowCount, { timeout: 10_000 }).toBe(1);
    return { answer };
  });
  expect(await codeOf(await asked.answer)).toEqual([401, 'credentials_refused']);
  await services.db.update(accounts).set({ password: await hashPassword(person.password) });
});

test('guesses from one IPv6 network share a limit', async () => {
  let last = 0;
  const call = await door(services, () => `2001:db8:1:2::${(last++).toString(16)}`);
  const wrong = { ...person, password: 'another password' };
  const many = await Promise.all(Array.from({ length: 12 }, () => call('/sign-in/email', { body: wrong })));
  expect(many.filter(({ status }) => status === 429)).toHaveLength(2);
});

describe('origin', () => {
  test.each<[string, string | null, Record<string, string>, number]>([
    ['our page', 'http://localhost:3000', {}, 204],
    ['our page under its other host name', 'http://127.0.0.1:3000', {}, 204],
    ['our page, with Sec-Fetch-Site only', null, { 'sec-fetch-site': 'same-origin' }, 204],
    ['another site', 'https://evil.example', {}, 403],
    ['another port', 'http://localhost:3001', {}, 403],
    ['a site whose name starts like ours', 'http://localhost:3000.evil.example', {}, 403],
    ['a sandboxed page', 'null', {}, 403],
    ['no page', null, {}, 403],
    ['a sibling of our site', 'http://localhost:3000', { 'sec-fetch-site': 'same-site' }, 403],
  ])('%s', async (_name, origin, headers, status) => {
    const call = await door();
    expect((await call('/sign-in/email', { body: person, origin, headers })).status).toBe(status);
    const { status: out } = await call('/sign-out', { origin, headers });
    expect(out).toBe(status);
  });
});

describe('other endpoints of the library are not reachable', () => {
  test.each([
    '/sign-up/email',
    '/update-user',
    '/delete-user',
    '/list-sessions',
    '/change-email',
    '/sign-in/social',
    '/request-password-reset',
    '/error',
    '/ok',
    '/sign-in/email/',
    '/../auth/sign-up/email',
  ])('%s does not exist', async (path) => {
    expect(await codeOf(await (await door())(path, { body: person }))).toEqual([404, 'not_found']);
  });

  test('other methods, types and oversized bodies are rejected', async () => {
    const call = await door();
    expect((await call('/sign-in/email', { method: 'GET' })).status).toBe(405);
    expect((await call('/sign-in/email', { headers: { 'content-type': 'text/plain' } })).status).toBe(415);
    expect((await call('/sign-in/email', { body: { email: 'x'.repeat(20_000) } })).status).toBe(413);
    expect(await codeOf(await call('/sign-in/email', { body: { email: 1 } }))).toEqual([422, 'invalid']);
  });
});

test('an unavailable database is 503 at every endpoint, including sign-out', async () => {
  const own = await testServices({ config: { bootstrap: { token: null, person } } });
  await bootstrapPeople(own);
  const call = await door(own);
  const cookie = cookieOf(await call('/sign-in/email', { body: person }));
  await own.db.$client.end();
  const answers = [
    await call('/sign-in/email', { body: person }),
    await call('/sign-out', { cookie }),
    await call('/get-session', { method: 'GET', cookie }),
    await call('/change-password', { cookie, body: { currentPassword: 'x', newPassword: person.password } }),
  ];
  for (const answer of answers) expect(await codeOf(answer)).toEqual([503, 'database_away']);
});

describe('a session', () => {
  const read = (cookie: string, at = Date.now()) => readSession(services, new Headers({ cookie }), new Date(at));
  const signIn = async () => {
    const call = await door();
    return { call, cookie: cookieOf(await call('/sign-in/email', { body: person })) };
  };

  test('returns the member, without an API token', async () => {
    const { call, cookie } = await signIn();
    const answer = await call('/get-session', { method: 'GET', cookie });
    expect(await answer.json()).toMatchObject({ user: { name: 'ada', email: person.email, role: 'admin' } });
    const asBearer = await call('/get-session', {
      method: 'GET',
      headers: { authorization: `Bearer ${cookie.split('=')[1]}` },
    });
    expect(await asBearer.json()).toEqual({ user: null });
  });

  test('ends with sign-out', async () => {
    const { call, cookie } = await signIn();
    const out = await call('/sign-out', { cookie });
    expect(out.headers.getSetCookie()[0]).toMatch(/^annex\.session_token=;.*Max-Age=0/);
    expect(await read(cookie)).toBeNull();
  });

  test('a changed token or signature is anonymous', async () => {
    const { cookie } = await signIn();
    expect(await read(cookie)).toMatchObject({ actor: { role: 'admin' } });
    const [name, value = ''] = cookie.split('=');
    const first = value.startsWith('x') ? 'y' : 'x';
    for (const changed of [`${first}${value.slice(1)}`, value.split('.')[0], `${value.split('.')[0]}.AAAA`, '%', '']) {
      expect(await read(`${name}=${changed}`)).toBeNull();
    }
  });

  test('ends after 12 hours without a call, and after 30 days at the latest', async () => {
    const { cookie } = await signIn();
    const start = Date.now();
    let at = start;
    while (at + idleLife - minute < start + 30 * 24 * 60 * minute) {
      at += idleLife - minute;
      expect(await read(cookie, at)).not.toBeNull();
    }
    expect(await read(cookie, start + 30 * 24 * 60 * minute + minute)).toBeNull();
    const idle = (await signIn()).cookie;
    expect(await read(idle, Date.now() + idleLife + minute)).toBeNull();
    expect(await read(idle)).toBeNull();
  });

  test('a new password ends every other session and keeps this one', async () => {
    const own = await testServices({ config: { bootstrap: { token: null, person } } });
    await bootstrapPeople(own);
    const call = await door(own);
    const signedIn = async () => cookieOf(await call('/sign-in/email', { body: person }));
    const [cookie, other] = [await signedIn(), await signedIn()];
    const change = (currentPassword: string, newPassword: string) =>
      call('/change-password', { cookie, body: { currentPassword, newPassword } });
    expect(await codeOf(await change('wrong password', 'a new long password'))).toEqual([422, 'password_wrong']);
    expect(await codeOf(await change(person.password, 'short'))).toEqual([422, 'invalid']);
    const changed = await change(person.password, 'a new long password');
    expect(changed.status).toBe(204);
    const now = new Date();
    expect(await readSession(own, new Headers({ cookie: other }), now)).toBeNull();
    expect(await readSession(own, new Headers({ cookie }), now)).not.toBeNull();
    expect((await call('/sign-in/email', { body: person })).status).toBe(401);
  });

  test('the cookie cannot be derived from the database', async () => {
    const { cookie } = await signIn();
    const token = decodeURIComponent(cookie.split('=')[1] ?? '').split('.')[0] ?? '';
    expect(await services.db.select().from(sessions).where(eq(sessions.token, token))).toHaveLength(1);
    expect(await read(`annex.session_token=${token}`)).toBeNull();
  });
});
