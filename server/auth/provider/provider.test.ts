import { eq } from 'drizzle-orm';
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { accounts, auditEntries, users } from '#db/schema/index.ts';
import type { Services } from '#server/domain/context.ts';
import type { OpenIdConfig } from '#server/platform/openid-env.ts';
import { readActs } from '#server/testing/acts.ts';
import { openBrowser, refusalOf } from '#server/testing/browser.ts';
import { testBootstrap, testContext, testServices } from '#server/testing/context.ts';
import { type OpenIdTestProvider, signInAtProvider, startOpenIdProvider } from '#server/testing/openid-provider.ts';
import { openSignIn } from '../index.ts';
import { createInvitation, redeemInvitation } from '../invitations/index.ts';
import { getProvider, getSignInWays } from './index.ts';

const log = pino({ level: 'silent' });
const callback = 'http://localhost:3000/api/auth/oidc/callback';
let provider: OpenIdTestProvider;
let other: OpenIdTestProvider;
let services: Services;

beforeAll(async () => {
  provider = await startOpenIdProvider(callback);
  other = await startOpenIdProvider(callback);
  services = await testServices();
});
afterAll(async () => {
  await provider.close();
  await other.close();
});
beforeEach(() => provider.people.clear());

const grace = { name: 'Grace', email: 'Grace@Example.org', email_verified: true };

/** Opens a portal that uses the provider with these settings. */
function portal(rules: Partial<OpenIdConfig> = {}) {
  const openId: OpenIdConfig = {
    issuer: provider.issuer,
    clientId: provider.clientId,
    clientSecret: { value: provider.clientSecret },
    name: 'Example',
    scopes: 'openid email profile',
    emailDomains: [],
    joinAs: null,
    roles: null,
    ...rules,
  };
  const own = { ...services, config: { ...services.config, openId } };
  const signIn = openSignIn(own, log);
  return { own, signIn, open: () => openBrowser(own, signIn) };
}

type Browser = ReturnType<typeof openBrowser>;

async function ask(
  browser: Browser,
  input: { next?: string; invitation?: string; connect?: true } = {},
): Promise<string> {
  return ((await (await browser.post('/oidc/start', input)).json()) as { address: string }).address;
}

/** Runs a complete sign-in at the provider. Returns the final redirect target. */
async function signInBy(browser: Browser, login: string, input: { next?: string; invitation?: string } = {}) {
  const back = await signInAtProvider(await ask(browser, input), login, callback);
  return hear(browser, back);
}

const hear = async (browser: Browser, back: string, secondsOff = 0): Promise<string | null> =>
  (await browser.get(`/oidc/callback${new URL(back).search}`, secondsOff)).headers.get('location');

const who = async (browser: Browser) =>
  ((await (await browser.get('/get-session')).json()) as { user: { id: string; name: string; role: string } | null })
    .user;

async function invite(role: 'viewer' | 'operator' | 'admin'): Promise<string> {
  const { link } = await createInvitation(await testContext({ services, actor: testBootstrap }), { role });
  return new URL(link).searchParams.get('token') ?? '';
}

async function member(name: string, role: 'viewer' | 'operator' | 'admin' = 'viewer'): Promise<string> {
  const input = { token: await invite(role), name, email: `${name}@example.org`, password: 'a long enough pass' };
  return (await redeemInvitation(await testContext({ services, role: null }), input)).id;
}

describe('a person with an account at the provider', () => {
  test('joins by an invitation, and can then sign in without an invitation', async () => {
    provider.people.set('grace', grace);
    const { open } = portal();
    const invitation = await invite('operator');
    const browser = open();
    expect(await signInBy(browser, 'grace', { invitation, next: '/handlers?q=x' })).toBe('/handlers?q=x');
    const joined = await who(browser);
    expect(joined).toMatchObject({ name: 'Grace', role: 'operator', email: 'grace@example.org' });
    const later = open();
    expect(await signInBy(later, 'grace')).toBe('/');
    expect(await who(later)).toMatchObject({ id: joined?.id });
    const acts = await readActs(services.db, eq(auditEntries.targetId, joined?.id ?? ''));
    expect(acts.map(({ action }) => action)).toEqual([
      'member.join',
      'member.link-provider',
      'member.sign-in',
      'member.sign-in',
    ]);
    const password = { email: 'grace@example.org', password: 'a long enough pass' };
    expect(await refusalOf(await open().post('/sign-in/email', password))).toEqual([401, 'credentials_refused']);
    expect(await signInBy(open(), 'grace', { invitation })).toBe('/');
  });

  test('is rejected without an invitation, with the same message for members and strangers', async () => {
    const id = await member('heidi');
    provider.people.set('heidi', { email: 'heidi@example.org', email_verified: true });
    provider.people.set('ivan', { email: 'ivan@example.org', email_verified: true });
    const { open } = portal();
    for (const login of ['heidi', 'ivan']) {
      const browser = open();
      expect(await signInBy(browser, login)).toBe('/sign-in?refused=stranger&next=%2F');
      expect(await who(browser)).toBeNull();
    }
    const linked = await services.db.select().from(accounts).where(eq(accounts.userId, id));
    expect(linked.map(({ providerId }) => providerId)).toEqual(['credential']);
  });

  test("becomes the member with this email address if invited, and keeps that member's role", async () => {
    const id = await member('judy');
    provider.people.set('judy', { email: 'judy@example.org', email_verified: true });
    const browser = portal().open();
    expect(await signInBy(browser, 'judy', { invitation: await invite('admin') })).toBe('/');
    expect(await who(browser)).toMatchObject({ id, role: 'viewer' });
  });

  test('joins without an invitation if the portal allows everyone to join', async () => {
    provider.people.set('kim', { name: 'Kim', email: 'kim@example.org', email_verified: true });
    const browser = portal({ joinAs: 'viewer' }).open();
    expect(await signInBy(browser, 'kim')).toBe('/');
    expect(await who(browser)).toMatchObject({ name: 'Kim', role: 'viewer' });
  });

  test.each([
    ['an email that is not verified', { email: 'ada@example.org', email_verified: false }],
    ['an email with unknown verification', { email: 'ada@example.org' }],
    ['no email', {}],
    ['no email', { email: 'nonsense', email_verified: true }],
  ])('does not join with %s', async (_what, person) => {
    provider.people.set('mallory', person);
    const { open } = portal({ joinAs: 'viewer' });
    const before = await services.db.select({ id: users.id }).from(users);
    expect(await signInBy(open(), 'mallory')).toBe('/sign-in?refused=email&next=%2F');
    const invitation = await invite('viewer');
    expect(await signInBy(open(), 'mallory', { invitation })).toBe('/sign-in?refused=email&next=%2F');
    expect(await services.db.select({ id: users.id }).from(users)).toHaveLength(before.length);
    provider.people.set('mallory-2', { email: 'mallory-2@example.org', email_verified: true });
    if ('email' in person && person.email === 'nonsense')
      expect(await signInBy(open(), 'mallory-2', { invitation })).toBe('/');
  });

  test('must have an address in an allowed domain each time', async () => {
    provider.people.set('nina', { email: 'nina@sub.example.org', email_verified: true });
    provider.people.set('olga', { email: 'olga@example.org', email_verified: true });
    const { open } = portal({ joinAs: 'viewer', emailDomains: ['example.org'] });
    expect(await signInBy(open(), 'nina')).toBe('/sign-in?refused=email&next=%2F');
    expect(await signInBy(open(), 'olga')).toBe('/');
    provider.people.set('olga', { email: 'olga@elsewhere.org', email_verified: true });
    expect(await signInBy(open(), 'olga')).toBe('/sign-in?refused=email&next=%2F');
  });

  test('gets the role of their group, unless they are the last admin', async () => {
    const of = [
      { group: 'annex-admins', role: 'admin' as const },
      { group: 'annex-ops', role: 'operator' as const },
    ];
    const own = await testServices();
    const { config } = portal({ roles: { claim: 'groups', of } }).own;
    const signIn = openSignIn({ config }, log);
    const open = () => openBrowser({ ...own, config }, signIn);
    const person = { email: 'pat@example.org', email_verified: true };
    const roleWith = async (groups: string[]) => {
      provider.people.set('pat', { ...person, groups });
      const browser = open();
      await signInBy(browser, 'pat');
      return (await who(browser))?.role;
    };
    expect(await roleWith(['others'])).toBeUndefined();
    expect(await roleWith(['others', 'annex-ops'])).toBe('operator');
    expect(await roleWith(['annex-ops', 'annex-admins'])).toBe('admin');
    expect(await roleWith(['annex-ops'])).toBe('admin');
  });
});

describe('a provider account with the email address of a member', () => {
  const taken = '/sign-in?refused=taken&next=%2F';
  const bound = async (id: string) =>
    (await services.db.select().from(accounts).where(eq(accounts.userId, id)))
      .filter(({ providerId }) => providerId !== 'credential')
      .map(({ accountId }) => accountId);

  test.each([
    ['everyone may join', { joinAs: 'viewer' as const }, {}],
    [
      'a group has a role',
      { roles: { claim: 'groups', of: [{ group: 'admins', role: 'admin' as const }] } },
      { groups: ['admins'] },
    ],
  ])('does not take over the member if %s', async (_where, rules, claims) => {
    const name = `victim-${Object.keys(claims).length}`;
    const id = await member(name, 'admin');
    provider.people.set(`not ${name}`, { email: `${name}@example.org`, email_verified: true, ...claims });
    const browser = portal(rules).open();
    expect(await signInBy(browser, `not ${name}`)).toBe(taken);
    expect(await who(browser)).toBeNull();
    expect(await bound(id)).toEqual([]);
  });

  test('does not take over a member who joined with another provider account', async () => {
    provider.people.set('rita', { email: 'rita@example.org', email_verified: true });
    const { open } = portal({ joinAs: 'viewer' });
    const first = open();
    await signInBy(first, 'rita');
    const id = (await who(first))?.id ?? '';
    provider.people.set('rita-2', { email: 'rita@example.org', email_verified: true });
    const invitation = await invite('admin');
    for (const input of [{}, { invitation }]) {
      const second = open();
      expect(await signInBy(second, 'rita-2', input)).toBe(taken);
      expect(await who(second)).toBeNull();
    }
    expect(await bound(id)).toEqual(['rita']);
    // The invitation link still works for someone else.
    provider.people.set('sven', { email: 'sven@example.org', email_verified: true });
    expect(await signInBy(open(), 'sven', { invitation })).toBe('/');
  });

  test.each(['viewer', 'operator'] as const)(
    'does not turn a link for the role %s into an admin’s session',
    async (role) => {
      const id = await member(`boss-${role}`, 'admin');
      provider.people.set(`guest-${role}`, { email: `boss-${role}@example.org`, email_verified: true });
      const browser = portal().open();
      expect(await signInBy(browser, `guest-${role}`, { invitation: await invite(role) })).toBe(taken);
      expect([await who(browser), await bound(id)]).toEqual([null, []]);
    },
  );
});

describe('a signed-in member', () => {
  const password = 'a long enough pass';

  async function signedIn(open: () => Browser, name: string): Promise<{ id: string; browser: Browser }> {
    const id = await member(name);
    const browser = open();
    await browser.post('/sign-in/email', { email: `${name}@example.org`, password });
    return { id, browser };
  }

  test('connects an account with any address, and can then sign in with it', async () => {
    const { open } = portal();
    const { id, browser } = await signedIn(open, 'tess');
    provider.people.set('tess at work', { email: 'tess@work.example', email_verified: true });
    const back = await signInAtProvider(await ask(browser, { connect: true }), 'tess at work', callback);
    expect(await hear(browser, back)).toBe('/settings/account');
    const later = open();
    expect(await signInBy(later, 'tess at work')).toBe('/');
    expect(await who(later)).toMatchObject({ id });
    const acts = await readActs(services.db, eq(auditEntries.targetId, id));
    expect(acts.map(({ action }) => action)).toContain('member.link-provider');

    // Another provider account replaces the first, which can no longer sign in.
    provider.people.set('tess at home', { email: 'tess@home.example', email_verified: true });
    const again = await signInAtProvider(await ask(browser, { connect: true }), 'tess at home', callback);
    expect(await hear(browser, again)).toBe('/settings/account');
    expect(await signInBy(open(), 'tess at work')).toBe('/sign-in?refused=stranger&next=%2F');
    expect(await signInBy(open(), 'tess at home')).toBe('/');
  });

  test('cannot connect an account that belongs to someone else', async () => {
    const { open } = portal({ joinAs: 'viewer' });
    provider.people.set('uma', { email: 'uma@example.org', email_verified: true });
    await signInBy(open(), 'uma');
    const { browser } = await signedIn(open, 'vic');
    const back = await signInAtProvider(await ask(browser, { connect: true }), 'uma', callback);
    expect(await hear(browser, back)).toBe('/settings/account?refused=connected');
    const uma = open();
    await signInBy(uma, 'uma');
    expect(await who(uma)).toMatchObject({ email: 'uma@example.org' });
  });

  test('needs a session and a recent confirmation', async () => {
    const { open } = portal();
    expect(await refusalOf(await open().post('/oidc/start', { connect: true }))).toEqual([401, 'unauthenticated']);
    const { browser } = await signedIn(open, 'wes');
    expect(await refusalOf(await browser.post('/oidc/start', { connect: true }, 11 * 60))).toEqual([
      403,
      'confirmation_required',
    ]);
  });

  test('connects nothing after the session ended or someone else signed in', async () => {
    const { open } = portal();
    const { browser } = await signedIn(open, 'xena');
    const yuri = await signedIn(open, 'yuri');
    provider.people.set('xena', { email: 'xena@example.org', email_verified: true });
    const stale = '/settings/account?refused=stale';
    const own = browser.cookies.get('annex.session_token') ?? '';
    const back = () => ask(browser, { connect: true }).then((address) => signInAtProvider(address, 'xena', callback));
    const taken = await back();
    browser.cookies.set('annex.session_token', yuri.browser.cookies.get('annex.session_token') ?? '');
    expect(await hear(browser, taken)).toBe(stale);
    browser.cookies.set('annex.session_token', own);
    const late = await back();
    browser.cookies.delete('annex.session_token');
    expect(await hear(browser, late)).toBe(stale);
    expect(await services.db.select().from(accounts).where(eq(accounts.accountId, 'xena'))).toEqual([]);
  });
});

describe('a provider response', () => {
  const known = async () => {
    provider.people.set('quinn', { email: 'quinn@example.org', email_verified: true });
    return portal({ joinAs: 'viewer' });
  };
  const refused = (reason: string) => `/sign-in?refused=${reason}&next=%2F`;

  test('works once, and only in the browser that started the sign-in', async () => {
    const { open } = await known();
    const browser = open();
    const back = await signInAtProvider(await ask(browser), 'quinn', callback);
    const thief = open();
    expect(await hear(thief, back)).toBe('/sign-in?refused=stale');
    const cookies = [...browser.cookies];
    expect(await hear(browser, back)).toBe('/');
    for (const [name, value] of cookies) thief.cookies.set(name, value);
    expect(await hear(thief, back)).toBe('/sign-in?refused=stale');
    expect(await who(thief)).toBeNull();
  });

  test('without a challenge does not lock out its address', async () => {
    const { own, signIn, open } = portal();
    await member('nearby');
    const lured = open();
    for (let n = 0; n < 100; n += 1) {
      expect(await hear(lured, `${callback}?code=${n}&state=x`)).toBe('/sign-in?refused=stale');
    }
    expect(signIn.attempts.counts().failed).toBe(0);
    const person = { email: 'nearby@example.org', password: 'a long enough pass' };
    expect((await openBrowser(own, signIn).post('/sign-in/email', person)).status).toBe(204);
  });

  test('with another state, of another challenge, or with a used code is rejected', async () => {
    const { open } = await known();
    const changed = open();
    const back = new URL(await signInAtProvider(await ask(changed), 'quinn', callback));
    back.searchParams.set('state', 'another');
    expect(await hear(changed, back.href)).toBe(refused('failed'));

    const victim = open();
    await ask(victim);
    const attacker = open();
    const foreign = await signInAtProvider(await ask(attacker), 'quinn', callback);
    expect(await hear(victim, foreign)).toBe(refused('failed'));

    // Uses an old code with the state of a new challenge.
    const first = open();
    const used = new URL(await signInAtProvider(await ask(first), 'quinn', callback));
    expect(await hear(first, used.href)).toBe('/');
    const second = open();
    const state = new URL(await ask(second)).searchParams.get('state') ?? '';
    used.searchParams.set('state', state);
    expect(await hear(second, used.href)).toBe(refused('failed'));
    for (const browser of [changed, victim, second]) expect(await who(browser)).toBeNull();
  });

  test('from another issuer is rejected', async () => {
    const { open } = await known();
    const browser = open();
    const back = new URL(await signInAtProvider(await ask(browser), 'quinn', callback));
    back.searchParams.set('iss', other.issuer);
    expect(await hear(browser, back.href)).toBe(refused('failed'));
    expect(await who(browser)).toBeNull();
  });

  test('that denies the sign-in is shown as such', async () => {
    const { open } = await known();
    expect(await signInBy(open(), 'nobody there')).toBe(refused('denied'));
  });

  test.each([
    [-45, '/'],
    [45, '/'],
    [-120, refused('failed')],
    [480, refused('failed')],
  ])('is read by a portal whose clock is %i s off: %s', async (seconds, expected) => {
    const { open } = await known();
    const browser = open();
    const back = await signInAtProvider(await ask(browser), 'quinn', callback);
    expect(await hear(browser, back, seconds)).toBe(expected);
  });

  test("redirects only to the portal's own pages", async () => {
    const { open } = await known();
    for (const next of ['https://evil.example', '//evil.example', '/\\evil.example', '/\t/evil.example', 'vms']) {
      expect(await signInBy(open(), 'quinn', { next })).toBe('/');
    }
    expect(await signInBy(open(), 'quinn', { next: '/vms?tag=a#b' })).toBe('/vms?tag=a#b');
  });
});

test('admins see immediately that a provider no longer responds, although its metadata is cached', async () => {
  const stopping = await startOpenIdProvider(callback);
  const person = await portal({ issuer: stopping.issuer }).open().person();
  const admin = { ...person, actor: testBootstrap };
  expect(await getProvider(admin)).toMatchObject({ isAway: false });
  await stopping.close();
  expect(await getProvider(admin)).toMatchObject({ isAway: true });
});

test('an unavailable provider is reported, and without a provider there is no URL', async () => {
  const away = portal({ issuer: 'http://localhost:9' });
  const browser = away.open();
  expect(await getSignInWays(await browser.person())).toMatchObject({ provider: { name: 'Example', isAway: true } });
  expect(await refusalOf(await browser.post('/oidc/start'))).toEqual([503, 'provider_away']);
  const none = openBrowser(services, openSignIn(services, log));
  expect(await getSignInWays(await none.person())).toMatchObject({ provider: null });
  expect((await none.post('/oidc/start')).status).toBe(404);
});
