import { sql } from 'drizzle-orm';
import { pino } from 'pino';
import { beforeAll, describe, expect, test } from 'vitest';
import { accounts, type Role } from '#db/schema/index.ts';
import { assignProblem, readMarks, readProblems } from '#server/domain/attention/index.ts';
import { exit51, insertVms, recover } from '#server/domain/attention/testing/insert-vms.ts';
import type { Services } from '#server/domain/context.ts';
import { createPublisher } from '#server/domain/publishers/index.ts';
import { openBrowser } from '#server/testing/browser.ts';
import { testBootstrap, testContext, testServices } from '#server/testing/context.ts';
import { confirm } from './account/index.ts';
import { clearExpiredAccess } from './clear-expired.ts';
import { actorFromBearer, openSignIn, type SignIn } from './index.ts';
import { createInvitation, listInvitations, redeemInvitation, renewInvitation } from './invitations/index.ts';
import { removeMember, updateMember } from './members/index.ts';
import { memberOf } from './provider/index.ts';
import { createToken } from './tokens/index.ts';

const password = 'a long enough pass';
const minute = 60_000;
let services: Services;
let signIn: SignIn;
let count = 0;

beforeAll(async () => {
  services = await testServices();
  signIn = openSignIn(services, pino({ level: 'silent' }));
  await createPublisher(await bootstrap(), { namespace: 'A', displayName: 'A' });
});

const bootstrap = () => testContext({ services, actor: testBootstrap });
const later = (minutes: number) => new Date(Date.now() + minutes * minute);

type Browser = ReturnType<typeof openBrowser>;

/** Creates a member and signs them in. */
async function member(role: Role, namespaces: string[] = []): Promise<{ id: string; browser: Browser }> {
  count += 1;
  const email = `person-${count}@example.org`;
  const { link } = await createInvitation(await bootstrap(), { role, namespaces });
  const token = new URL(link).searchParams.get('token') ?? '';
  const anonymous = await testContext({ services, role: null });
  const { id } = await redeemInvitation(anonymous, { token, name: `Person ${count}`, email, password });
  const browser = openBrowser(services, signIn);
  await browser.post('/sign-in/email', { email, password });
  return { id, browser };
}

const bearer = (value: string) => actorFromBearer(services, `Bearer ${value}`, new Date());

const works = (value: string) =>
  bearer(value).then(
    () => true,
    () => false,
  );

const codeOf = (promise: Promise<unknown>) =>
  promise.then(
    () => 'ok',
    (error: { code?: string }) => error.code,
  );

/**
 * Creates a token, a second one with the first, and a third with the second. Also creates two invitations, one in the
 * session and one with a token.
 */
async function grantsOf(browser: Browser) {
  const first = await createToken(await browser.person(), { name: 'first', role: 'admin' });
  const byToken = async (value: string) => testContext({ services, actor: await bearer(value) });
  const second = await createToken(await byToken(first.value), { name: 'second', role: 'admin' });
  const third = await createToken(await byToken(second.value), { name: 'third', role: 'viewer' });
  const own = await createInvitation(await browser.person(), { role: 'admin' });
  const byScript = await createInvitation(await byToken(second.value), { role: 'viewer' });
  return { tokens: [first, second, third], invitations: [own, byScript] };
}

async function stillGood({ tokens, invitations }: Awaited<ReturnType<typeof grantsOf>>) {
  const ctx = await bootstrap();
  const open = (await listInvitations(ctx)).items.map(({ id }) => id);
  return {
    tokens: await Promise.all(tokens.map(({ value }) => works(value))),
    invitations: invitations.map(({ id }) => open.includes(id)),
  };
}

const exampleProvider = {
  issuer: 'https://id.example',
  clientId: 'annex',
  clientSecret: null,
  name: 'Example',
  scopes: 'openid',
  emailDomains: [],
  joinAs: null,
  roles: null,
};

const all = { tokens: [true, true, true], invitations: [true, true] };
const none = { tokens: [false, false, false], invitations: [false, false] };

describe('problems that are assigned to a member', () => {
  /** Assigns two problems to an operator. The second problem then disappears from its last VM. */
  async function assignedMember() {
    const { id } = await member('operator');
    const [stays, goes] = [`stays-${count}`, `goes-${count}`];
    await insertVms(services.db, new Date(), [
      { name: stays, health: 'failed', extension: { ...exit51, exitCode: count } },
      { name: goes, health: 'failed', extension: { ...exit51, exitCode: 100 + count } },
    ]);
    const found = (await readProblems(services.db)).items;
    const keyOf = (exitCode: number) => found.find(({ extension }) => extension?.exitCode === exitCode)?.key ?? '';
    const keys = [keyOf(count), keyOf(100 + count)];
    for (const key of keys) await assignProblem(await bootstrap(), { key, memberId: id });
    await recover(services.db, goes);
    const assignees = async () => (await readMarks(services.db, keys)).map(({ assignee }) => assignee?.id ?? null);
    return { id, problem: keys[0], assignees };
  }

  test.each<[string, (id: string) => Promise<void>]>([
    ['is removed', async (id) => removeMember(await bootstrap(), { id })],
    ['becomes a viewer', async (id) => updateMember(await bootstrap(), { id, role: 'viewer' })],
    [
      'becomes a publisher',
      async (id) => updateMember(await bootstrap(), { id, role: 'publisher', namespaces: ['A'] }),
    ],
  ])('are unassigned if the member %s, and the activity log says so', async (_what, act) => {
    const { id, problem, assignees } = await assignedMember();
    expect(await assignees()).toEqual([id, id]);
    await act(id);
    expect(await assignees()).toEqual([null, null]);
    const { rows } = await services.db.execute<{ details: unknown }>(
      sql`select details from audit_entries where action = 'attention.unassign' and target_id = ${problem}`,
    );
    expect(rows).toEqual([{ details: expect.objectContaining({ from: `Person ${count}` }) }]);
  });

  test('stay assigned if the member becomes an admin or gets another name', async () => {
    const { id, assignees } = await assignedMember();
    // Creates a second admin, because the last admin cannot become an operator.
    await member('admin');
    await updateMember(await bootstrap(), { id, role: 'admin' });
    await updateMember(await bootstrap(), { id, name: 'Another name' });
    expect(await assignees()).toEqual([id, id]);
    await updateMember(await bootstrap(), { id, role: 'operator' });
    expect(await assignees()).toEqual([id, id]);
  });
});

describe('a member who is removed or loses rights', () => {
  test.each<[string, (id: string) => Promise<void>]>([
    ['is removed', async (id) => removeMember(await bootstrap(), { id })],
    ['becomes an operator', async (id) => updateMember(await bootstrap(), { id, role: 'operator' })],
    [
      'becomes a publisher',
      async (id) => updateMember(await bootstrap(), { id, role: 'publisher', namespaces: ['A'] }),
    ],
  ])('a member who %s loses every token and open invitation; other members keep theirs', async (_what, act) => {
    const leaving = await member('admin');
    const staying = await member('admin');
    const [lost, kept] = [await grantsOf(leaving.browser), await grantsOf(staying.browser)];
    expect(await stillGood(lost)).toEqual(all);
    await act(leaving.id);
    expect([await stillGood(lost), await stillGood(kept)]).toEqual([none, all]);
    const { rows } = await services.db.execute<{ n: number }>(
      sql`select count(*)::int as n from audit_entries
          where action in ('token.revoke', 'invitation.revoke')
          and target_id in ${[...lost.tokens, ...lost.invitations].map(({ id }) => id)}`,
    );
    expect(rows[0]?.n).toBe(5);
  });

  test('keeps tokens and invitations if only the name changes', async () => {
    const { id, browser } = await member('admin');
    const grants = await grantsOf(browser);
    await updateMember(await bootstrap(), { id, name: 'Another name', role: 'admin' });
    expect(await stillGood(grants)).toEqual(all);
  });

  test('loses what was created with a token that was revoked earlier', async () => {
    const { id, browser } = await member('admin');
    const { tokens } = await grantsOf(browser);
    const [first, second] = tokens;
    await services.db.execute(
      sql`update api_tokens set revoked_at = now() - interval '2 years' where id = ${first?.id}`,
    );
    // The token was revoked so long ago that it would be deleted if it had not created another token.
    await clearExpiredAccess(services, new Date());
    expect(await works(second?.value ?? '')).toBe(true);
    await removeMember(await bootstrap(), { id });
    expect(await works(second?.value ?? '')).toBe(false);
  });

  test('keeps no token that was created concurrently', async () => {
    const created: string[] = [];
    for (let round = 0; round < 4; round += 1) {
      const { id, browser } = await member('admin');
      const ctx = await browser.person();
      const tries = Array.from({ length: 6 }, (_, n) => createToken(ctx, { name: `race ${n}`, role: 'admin' }));
      const removal = removeMember(await bootstrap(), { id });
      for (const one of await Promise.allSettled(tries)) if (one.status === 'fulfilled') created.push(one.value.value);
      await removal;
    }
    expect(await Promise.all(created.map(works))).toEqual(created.map(() => false));
  });
});

test('loses tokens and invitations too if a provider group has fewer rights', async () => {
  const { id, browser } = await member('admin');
  const grants = await grantsOf(browser);
  const roles = { claim: 'groups', of: [{ group: 'ops', role: 'operator' as const }] };
  const openId = { ...exampleProvider, roles };
  const ctx = await testContext({ services: { ...services, config: { ...services.config, openId } }, role: null });
  const claims = { sub: id, name: null, verifiedEmail: null, groups: ['ops'] };
  const account = { id, userId: id, accountId: id, providerId: exampleProvider.issuer };
  await services.db.insert(accounts).values(account);
  const actor = await services.db.transaction((tx) => memberOf(tx, ctx, exampleProvider.issuer, claims, null));
  expect([actor.role, await stillGood(grants)]).toEqual(['operator', none]);
});

describe('creating a token or an invitation', () => {
  test('requires a recent confirmation in a signed-in session', async () => {
    const { browser } = await member('admin');
    const { id } = await createInvitation(await browser.person(), { role: 'viewer' });
    const acts = [
      async (now: Date) => createToken(await browser.person(now), { name: 'late', role: 'viewer' }),
      async (now: Date) => createInvitation(await browser.person(now), { role: 'viewer' }),
      async (now: Date) => renewInvitation(await browser.person(now), { id }),
    ];
    for (const act of acts) expect(await codeOf(act(later(11)))).toBe('confirmation_required');
    await confirm(await browser.person(later(11)), { password });
    for (const act of acts) expect(await codeOf(act(later(12)))).toBe('ok');
  });

  test('requires no confirmation from an API token or the bootstrap token', async () => {
    const { value } = await createToken(await bootstrap(), { name: 'ci', role: 'admin' });
    const script = await testContext({ services, actor: await bearer(value), now: later(60) });
    expect(await codeOf(createToken(script, { name: 'next', role: 'viewer' }))).toBe('ok');
    expect(await codeOf(createInvitation(script, { role: 'viewer' }))).toBe('ok');
  });

  test('is rejected without a session', async () => {
    const ctx = await testContext({ services, role: 'admin' });
    expect(await codeOf(createToken(ctx, { name: 'none', role: 'viewer' }))).toBe('unauthenticated');
    expect(await codeOf(createInvitation(ctx, { role: 'viewer' }))).toBe('unauthenticated');
  });

  test('a replaced link counts as created by the person who replaced it', async () => {
    const [first, second] = [await member('admin'), await member('admin')];
    const { id } = await createInvitation(await first.browser.person(), { role: 'admin' });
    await renewInvitation(await second.browser.person(), { id });
    await removeMember(await bootstrap(), { id: second.id });
    expect((await listInvitations(await bootstrap())).items.map((one) => one.id)).not.toContain(id);
  });
});
