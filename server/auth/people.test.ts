import { and, eq } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import { accounts, auditEntries, invitations, sessions, users } from '#db/schema/index.ts';
import type { Actor } from '#server/domain/actor.ts';
import type { Services } from '#server/domain/context.ts';
import { createPublisher, listPublishers } from '#server/domain/publishers/index.ts';
import { readActs } from '#server/testing/acts.ts';
import { testActor, testBootstrap, testContext, testServices } from '#server/testing/context.ts';
import { outcomeOf } from '#server/testing/records.ts';
import { actorFromBearer, bootstrapPeople } from './index.ts';
import {
  createInvitation,
  listInvitations,
  readInvitation,
  redeemInvitation,
  revokeInvitation,
} from './invitations/index.ts';
import { listMembers, me, removeMember, updateMember } from './members/index.ts';
import { getSignInWays } from './provider/index.ts';
import { createToken, listTokens, revokeToken } from './tokens/index.ts';

const password = 'a long enough pass';
const hour = 3_600_000;
const id = '018f0000-0000-7000-8000-000000000000';
let services: Services;

beforeAll(async () => {
  services = await testServices();
  for (const namespace of ['Acme.Lab', 'A.B'])
    await createPublisher(await admin(), { namespace, displayName: namespace });
});

const as = (actor: Actor, now = new Date()) => testContext({ services, actor, now });
const admin = () => as(testBootstrap);
const asAnonymous = () => as(testActor(null));
const tokenOf = (link: string | null): string => new URL(link ?? '').searchParams.get('token') ?? '';

async function join(role: 'viewer' | 'operator' | 'publisher' | 'admin', name: string): Promise<Actor> {
  const { link } = await createInvitation(await admin(), { role, namespaces: ['Acme.Lab'] });
  return redeemInvitation(await asAnonymous(), { token: tokenOf(link), name, email: `${name}@example.org`, password });
}

/** Returns the contents of all tables as text, like a dump. */
async function dump(): Promise<string> {
  const { rows } = await services.db.execute(
    `select table_name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'`,
  );
  const tables = rows.map((row) => String(row.table_name));
  const texts = await Promise.all(
    tables.map(async (table) => JSON.stringify((await services.db.execute(`select t::text from "${table}" t`)).rows)),
  );
  return texts.join('\n');
}

describe('roles', () => {
  const verbs: [string, (actor: Actor) => Promise<unknown>, string][] = [
    ['members list', async (actor) => listMembers(await as(actor)), 'ok'],
    ['members update', async (actor) => updateMember(await as(actor), { id, name: 'X' }), 'member_unknown'],
    ['members remove', async (actor) => removeMember(await as(actor), { id }), 'member_unknown'],
    ['invitations list', async (actor) => listInvitations(await as(actor)), 'ok'],
    ['invitations create', async (actor) => createInvitation(await as(actor), { role: 'viewer' }), 'ok'],
    ['invitations revoke', async (actor) => revokeInvitation(await as(actor), { id }), 'invitation_unknown'],
    ['tokens list', async (actor) => listTokens(await as(actor)), 'ok'],
    ['tokens create', async (actor) => createToken(await as(actor), { name: 'ci', role: 'viewer' }), 'ok'],
    ['tokens revoke', async (actor) => revokeToken(await as(actor), { id }), 'token_unknown'],
  ];
  const asked = verbs.flatMap(([name, verb, allowed]) =>
    ([null, 'viewer', 'operator', 'publisher', 'admin'] as const).map((role) => {
      const expected = role === 'admin' ? allowed : role === null ? 'unauthenticated' : 'forbidden';
      return [name, role, expected, verb] as const;
    }),
  );

  test.each(asked)('%s as %s: %s', async (_name, role, expected, verb) => {
    const answer = await verb(role === 'admin' ? testBootstrap : testActor(role)).then(
      () => 'ok',
      (error: { code?: string }) => error.code,
    );
    expect(answer).toBe(expected);
  });

  test('everyone can read who they are', async () => {
    expect(await me(await asAnonymous())).toBeNull();
    expect(await me(await as(testActor('publisher', ['Acme.Lab'])))).toMatchObject({
      role: 'publisher',
      namespaces: ['Acme.Lab'],
    });
  });
});

describe('the grant `scripts`', () => {
  const scriptsOf = async (id: string) =>
    (await listMembers(await admin())).items.find((one) => one.id === id)?.scripts;

  test('is given to operators and publishers only, and ends with a change to another role', async () => {
    const { id } = await join('operator', 'olga');
    const change = async (input: object) => updateMember(await admin(), { id, ...input });
    expect(await scriptsOf(id)).toBe(false);
    await change({ scripts: true });
    expect(await scriptsOf(id)).toBe(true);
    const [act] = await readActs(
      services.db,
      and(eq(auditEntries.targetId, id), eq(auditEntries.action, 'member.update')),
    );
    expect(act).toMatchObject({ before: { scripts: false }, after: { scripts: true } });
    await change({ role: 'viewer' });
    expect(await scriptsOf(id)).toBe(false);
    await change({ scripts: true });
    expect(await scriptsOf(id), 'not for viewers').toBe(false);
    await change({ role: 'operator' });
    expect(await scriptsOf(id), 'not given back').toBe(false);
  });

  test('is part of what callers read about themselves', async () => {
    expect(await me(await as(testActor('operator', [], true)))).toMatchObject({ scripts: true });
    expect(await me(await as(testActor('operator')))).toMatchObject({ scripts: false });
    expect(await me(await as(testActor('viewer', [], true)))).toMatchObject({ scripts: false });
    expect(await me(await admin())).toMatchObject({ scripts: true });
  });
});

describe('invitations', () => {
  test('a link creates one member with its role, and the activity log names who joined', async () => {
    const actor = await join('publisher', 'pia');
    expect(actor).toMatchObject({ kind: 'user', name: 'pia', role: 'publisher', namespaces: ['Acme.Lab'] });
    const acts = await readActs(services.db, eq(auditEntries.targetId, actor.id));
    expect(acts).toMatchObject([{ action: 'member.join', actorId: actor.id, actorName: 'pia' }]);
  });

  test('of two concurrent calls with one link, only one creates a member', async () => {
    const { link } = await createInvitation(await admin(), { role: 'viewer' });
    const tries = await Promise.allSettled(
      ['one', 'two'].map(async (name) =>
        redeemInvitation(await asAnonymous(), { token: tokenOf(link), name, email: `${name}@race.org`, password }),
      ),
    );
    expect(tries.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    expect(tries.find(({ status }) => status === 'rejected')).toMatchObject({ reason: { code: 'invitation_refused' } });
    await expect(readInvitation(await asAnonymous(), { token: tokenOf(link) })).rejects.toMatchObject({
      code: 'invitation_refused',
    });
  });

  test('names its recipient and namespaces in the list and to anyone who has the link', async () => {
    const namespaces = ['Acme.Lab'];
    const { id, link } = await createInvitation(await admin(), {
      ...{ role: 'publisher', recipient: ' Ada <ada@example.org> ', namespaces },
      newPublisher: { namespace: 'Zeta.Lab', displayName: 'Zeta' },
    });
    const shown = { role: 'publisher', recipient: 'Ada <ada@example.org>', namespaces: ['Acme.Lab', 'Zeta.Lab'] };
    expect((await listInvitations(await admin())).items.find((one) => one.id === id)).toMatchObject(shown);
    expect(await readInvitation(await asAnonymous(), { token: tokenOf(link) })).toMatchObject(shown);
    expect((await listPublishers(await admin(), { q: 'Zeta.Lab' })).items).toMatchObject([{ displayName: 'Zeta' }]);
    const acts = await readActs(services.db, eq(auditEntries.targetId, 'Zeta.Lab'));
    expect(acts).toMatchObject([{ action: 'publisher.create' }]);
    await revokeInvitation(await admin(), { id });
  });

  test.each<[string, (namespaces: string[]) => Promise<unknown>]>([
    ['an invitation', async (namespaces) => createInvitation(await admin(), { role: 'publisher', namespaces })],
    [
      'a member',
      async (namespaces) => {
        const { id } = await join('publisher', `p${Math.random()}`);
        return updateMember(await admin(), { id, namespaces });
      },
    ],
  ])('%s gets existing namespaces only', async (_, give) => {
    const faults = async (...namespaces: string[]) =>
      (await outcomeOf(give(namespaces))).replace('unprocessable invalid; ', '');
    expect(await faults('Acme.Lab', '../x')).toBe('/namespaces/1 namespace_form');
    expect(await faults('Acme.Lab', 'Nobody.Lab', 'acme.lab')).toBe(
      '/namespaces/1 namespace_unknown; /namespaces/2 namespace_unknown',
    );
    expect(await faults('Acme.Lab', 'A.B')).toBe('done');
  });

  test('a publisher needs a namespace, and a namespace that exists is not created again', async () => {
    const before = await services.db.$count(invitations);
    const newPublisher = { namespace: 'Taken.Lab', displayName: 'Taken' };
    await createPublisher(await admin(), newPublisher);
    await expect(createInvitation(await admin(), { role: 'publisher' })).rejects.toMatchObject({
      code: 'invalid',
      faults: [{ path: '/namespaces', code: 'namespace_needed' }],
    });
    const wrong = { role: 'publisher' as const, newPublisher: { namespace: '..', displayName: ' ' }, recipient: '' };
    await expect(createInvitation(await admin(), wrong)).rejects.toMatchObject({
      faults: [
        { path: '/recipient', code: 'field_empty' },
        { path: '/newPublisher/namespace', code: 'namespace_form' },
        { path: '/newPublisher/displayName', code: 'field_empty' },
      ],
    });
    const again = { role: 'publisher' as const, newPublisher: { ...newPublisher, namespace: 'TAKEN.lab' } };
    await expect(createInvitation(await admin(), again)).rejects.toMatchObject({ code: 'publisher_taken' });
    const viewer = await createInvitation(await admin(), {
      role: 'viewer',
      newPublisher: { ...newPublisher, namespace: 'None.Lab' },
    });
    expect((await listPublishers(await admin(), { q: 'None.Lab' })).items).toEqual([]);
    await revokeInvitation(await admin(), { id: viewer.id });
    expect(await services.db.$count(invitations)).toBe(before);
  });

  test('an email address that is in use leaves the link usable', async () => {
    await join('viewer', 'vera');
    const { link } = await createInvitation(await admin(), { role: 'viewer' });
    const redeem = async (email: string) =>
      redeemInvitation(await asAnonymous(), { token: tokenOf(link), name: 'Vera', email, password });
    await expect(redeem('VERA@example.org')).rejects.toMatchObject({ code: 'email_taken' });
    expect(await redeem('vera2@example.org')).toMatchObject({ role: 'viewer' });
  });

  test('revoked and expired links are rejected with the same error', async () => {
    const revoked = await createInvitation(await admin(), { role: 'viewer' });
    await revokeInvitation(await admin(), { id: revoked.id });
    const { link } = await createInvitation(await admin(), { role: 'viewer', hours: 1 });
    const later = await as(testActor(null), new Date(Date.now() + hour + 1_000));
    for (const [ctx, token] of [
      [await asAnonymous(), tokenOf(revoked.link)],
      [later, tokenOf(link)],
      [await asAnonymous(), 'annex_join_guessed'],
    ] as const) {
      await expect(readInvitation(ctx, { token })).rejects.toMatchObject({
        kind: 'unauthenticated',
        code: 'invitation_refused',
      });
    }
  });

  test('one response lists all faults of a form', async () => {
    const input = { token: 'x', name: ' ', email: 'no address', password: 'short' };
    await expect(redeemInvitation(await asAnonymous(), input)).rejects.toMatchObject({
      faults: [{ path: '/name' }, { path: '/email' }, { path: '/password' }],
    });
  });

  test('neither link nor password is in the database', async () => {
    const { link } = await createInvitation(await admin(), { role: 'viewer' });
    const text = await dump();
    expect(text).toContain('vera@example.org');
    expect(text).not.toContain(tokenOf(link));
    expect(text).not.toContain(password);
  });
});

describe('members', () => {
  test('a role applies from the next call, and only publishers keep namespaces', async () => {
    const { id: member } = await join('publisher', 'paul');
    await updateMember(await admin(), { id: member, role: 'operator' });
    const { items } = await listMembers(await admin());
    expect(items.find((item) => item.id === member)).toMatchObject({ role: 'operator', namespaces: [] });
  });

  test('the last administrator cannot be demoted or removed, even if two administrators remove each other', async () => {
    const own = await testServices();
    const made = async (name: string) => {
      const { link } = await createInvitation(await testContext({ services: own, actor: testBootstrap }), {
        role: 'admin',
      });
      const ctx = await testContext({ services: own, role: null });
      return redeemInvitation(ctx, { token: tokenOf(link), name, email: `${name}@example.org`, password });
    };
    const [ada, bob] = [await made('ada'), await made('bob')];
    const tries = await Promise.allSettled([
      removeMember(await testContext({ services: own, actor: ada }), { id: bob.id }),
      removeMember(await testContext({ services: own, actor: bob }), { id: ada.id }),
    ]);
    expect(tries.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    const [last] = await own.db.select().from(users);
    const ctx = await testContext({ services: own });
    await expect(removeMember(ctx, { id: last?.id ?? '' })).rejects.toMatchObject({ code: 'last_admin' });
    const demotion = updateMember(ctx, { id: last?.id ?? '', role: 'viewer' });
    await expect(demotion).rejects.toMatchObject({ code: 'last_admin' });
  });

  test('removing a member removes their password and sessions, but keeps their log entries', async () => {
    const { id: member } = await join('viewer', 'gone');
    await removeMember(await admin(), { id: member });
    expect(await services.db.select().from(accounts).where(eq(accounts.userId, member))).toEqual([]);
    expect(await services.db.select().from(sessions).where(eq(sessions.userId, member))).toEqual([]);
    const acts = await readActs(services.db, eq(auditEntries.targetId, member));
    expect(acts.map(({ action }) => action)).toEqual(['member.join', 'member.remove']);
  });
});

describe('API tokens', () => {
  const bearer = (value: string | null, now = new Date()) =>
    actorFromBearer(services, value === null ? null : `Bearer ${value}`, now);

  test('the value is shown once and stored as a digest', async () => {
    const { id: token, value } = await createToken(await admin(), {
      name: 'ci',
      role: 'publisher',
      namespaces: ['A.B'],
    });
    expect(value).toMatch(/^annex_token_[\w-]{43}$/);
    expect(await dump()).not.toContain(value);
    expect(JSON.stringify(await listTokens(await admin()))).not.toContain(value);
    expect(await bearer(value)).toEqual({
      kind: 'token',
      id: token,
      name: 'ci',
      role: 'publisher',
      namespaces: ['A.B'],
      scripts: false,
    });
  });

  test('expired, revoked, unknown and malformed tokens are rejected with the same error', async () => {
    const expiresAt = new Date(Date.now() + hour);
    const expiring = await createToken(await admin(), { name: 'short', role: 'viewer', expiresAt });
    await expect(bearer(expiring.value)).resolves.toMatchObject({ name: 'short' });
    const revoked = await createToken(await admin(), { name: 'old', role: 'admin' });
    await revokeToken(await admin(), { id: revoked.id });
    const refusal = { kind: 'unauthenticated', code: 'token_refused' };
    await expect(bearer(expiring.value, expiresAt)).rejects.toMatchObject(refusal);
    await expect(bearer(revoked.value)).rejects.toMatchObject(refusal);
    await expect(bearer('annex_token_guessed')).rejects.toMatchObject(refusal);
    await expect(actorFromBearer(services, 'Basic YTpi', new Date())).rejects.toMatchObject(refusal);
    await expect(actorFromBearer(services, 'Bearer', new Date())).rejects.toMatchObject(refusal);
    expect(await bearer(null)).toMatchObject({ kind: 'anonymous', role: null });
  });

  test('an expiry in the past is rejected', async () => {
    const input = { name: 'late', role: 'viewer' as const, expiresAt: new Date(Date.now() - 1) };
    await expect(createToken(await admin(), input)).rejects.toMatchObject({ faults: [{ path: '/expiresAt' }] });
  });

  test('use is recorded at most once a minute', async () => {
    const { id: token, value } = await createToken(await admin(), { name: 'busy', role: 'viewer' });
    const lastUsed = async () => (await listTokens(await admin())).items.find((item) => item.id === token)?.lastUsedAt;
    const start = Date.now();
    for (const seconds of [0, 10, 59]) await bearer(value, new Date(start + seconds * 1_000));
    expect(await lastUsed()).toEqual(new Date(start));
    await bearer(value, new Date(start + 61_000));
    expect(await lastUsed()).toEqual(new Date(start + 61_000));
  });

  test('the bootstrap token is an administrator while its variable is set', async () => {
    const token = 'b'.repeat(32);
    const set = { ...services, config: { ...services.config, bootstrap: { token, person: null } } };
    const asked = (own: Services) => actorFromBearer(own, `Bearer ${token}`, new Date());
    expect(await asked(set)).toMatchObject({ kind: 'bootstrap', name: 'Bootstrap token', role: 'admin' });
    await expect(asked(services)).rejects.toMatchObject({ code: 'token_refused' });
  });
});

describe('the first administrator', () => {
  const redeem = async (own: Services, link: string | null, name: string, now = new Date()) =>
    redeemInvitation(await testContext({ services: own, role: null, now }), {
      token: tokenOf(link),
      name,
      email: `${name}@example.org`,
      password,
    });

  test('joins by a link that works once, even concurrently, and then there is no link', async () => {
    const own = await testServices();
    const { setupUrl } = await bootstrapPeople(own);
    expect(setupUrl).toMatch(/^http:\/\/localhost:3000\/set-up\?token=annex_setup_/);
    const tries = await Promise.allSettled([redeem(own, setupUrl, 'one'), redeem(own, setupUrl, 'two')]);
    expect(tries.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    expect(await own.db.select().from(users)).toMatchObject([{ role: 'admin' }]);
    expect(await bootstrapPeople(own)).toEqual({ setupUrl: null });
  });

  test('the sign-in page mentions the setup link until the portal has a member', async () => {
    const own = await testServices();
    const ways = () => getSignInWays({ db: own.db, signIn: { provider: null } });
    const { setupUrl } = await bootstrapPeople(own);
    expect(await ways()).toEqual({ provider: null, hasMembers: false });
    await redeem(own, setupUrl, 'first');
    expect(await ways()).toEqual({ provider: null, hasMembers: true });
  });

  test('a new start replaces the earlier link, and a link expires after a day', async () => {
    const own = await testServices();
    const first = await bootstrapPeople(own);
    const second = await bootstrapPeople(own);
    await expect(redeem(own, first.setupUrl, 'late')).rejects.toMatchObject({ code: 'invitation_refused' });
    const tomorrow = new Date(Date.now() + 24 * hour + 1_000);
    const late = redeem(own, second.setupUrl, 'late', tomorrow);
    await expect(late).rejects.toMatchObject({ code: 'invitation_refused' });
    expect(await redeem(own, second.setupUrl, 'soon')).toMatchObject({ role: 'admin' });
  });

  test('is created from the environment once, and an open link becomes invalid', async () => {
    const own = await testServices();
    const { setupUrl } = await bootstrapPeople(own);
    const person = { email: 'Root@Example.org', password };
    const set = { ...own, config: { ...own.config, bootstrap: { token: null, person } } };
    const starts = await Promise.all([bootstrapPeople(set), bootstrapPeople(set), bootstrapPeople(set)]);
    expect(starts).toEqual(Array(3).fill({ setupUrl: null }));
    expect(await own.db.select().from(users)).toMatchObject([{ email: 'root@example.org', role: 'admin' }]);
    await expect(redeem(own, setupUrl, 'late')).rejects.toMatchObject({ code: 'invitation_refused' });
    expect(await own.db.select().from(invitations)).toEqual([]);
  });
});
