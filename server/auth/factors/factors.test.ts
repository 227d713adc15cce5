import { and, eq, sql } from 'drizzle-orm';
import { Secret, TOTP } from 'otpauth';
import { beforeAll, describe, expect, test } from 'vitest';
import { accounts, auditEntries, authChallenges, recoveryCodes, sessions, totpFactors } from '#db/schema/index.ts';
import type { Services } from '#server/domain/context.ts';
import { readActs } from '#server/testing/acts.ts';
import { openBrowser, refusalOf } from '#server/testing/browser.ts';
import { testBootstrap, testContext } from '#server/testing/context.ts';
import {
  type Browser,
  codeOf,
  type FactorStage,
  openFactorStage,
  password,
  withPasskey,
} from '#server/testing/factor-stage.ts';
import { confirm, getAccount, startConfirmation } from '../account/index.ts';
import type { SignIn } from '../index.ts';
import { createInvitation, redeemInvitation } from '../invitations/index.ts';
import { removeMember } from '../members/index.ts';
import { confirmedFor } from '../person.ts';
import { getSignInRules, setSignInRules } from '../rules/index.ts';
import {
  addPasskey,
  addTotp,
  removePasskey,
  removeTotp,
  renewRecoveryCodes,
  resetFactors,
  startPasskey,
  startTotp,
} from './index.ts';

const second = 1_000;
let stage: FactorStage;
let services: Services;
let signIn: SignIn;

beforeAll(async () => {
  stage = await openFactorStage();
  ({ services, signIn } = stage);
});

const somebody = () => stage.somebody();
const afterPassword = (email: string) => stage.afterPassword(email);
const actsOn = (id: string) => stage.actsOn(id);

/** Sets up an authenticator app. `codeIn` returns the code that the app will show after `steps` × 30 seconds. */
async function withApp(browser: Browser) {
  const { secret } = await startTotp(await browser.person());
  const app = new TOTP({ secret: Secret.fromBase32(secret) });
  const codeIn = (steps: number) => app.generate({ timestamp: Date.now() + steps * 30 * second });
  // Uses a code from half a minute ago, so that the current code is still unused.
  const before = new Date(Date.now() - 30 * second);
  const { recoveryCodes: codes } = await addTotp(await browser.person(before), {
    code: app.generate({ timestamp: before.getTime() }),
  });
  return { codeIn, secret, codes: codes ?? [] };
}

describe('the correct password alone', () => {
  test('starts no session if there is a second factor, and its cookie grants no access', async () => {
    const { id, email, browser } = await somebody();
    await withApp(browser);
    const half = openBrowser(services, signIn);
    const answer = await half.post('/sign-in/email', { email, password });
    expect(await answer.json()).toEqual({ factors: { totp: true, passkey: false, recoveryCode: true } });
    expect([...half.cookies.keys()]).toEqual(['annex.factor']);
    expect(await (await half.get('/get-session')).json()).toEqual({ user: null });
    expect(await codeOf(getAccount(await half.person()))).toBe('unauthenticated');
    expect(await services.db.select().from(sessions).where(eq(sessions.userId, id))).toHaveLength(1);
    half.cookies.set('annex.session_token', half.cookies.get('annex.factor') ?? '');
    expect(await (await half.get('/get-session')).json()).toEqual({ user: null });
  });

  test('is required before a factor', async () => {
    const { browser } = await somebody();
    const { codeIn } = await withApp(browser);
    const other = openBrowser(services, signIn);
    expect(await refusalOf(await other.post('/sign-in/factor', { code: codeIn(0) }))).toEqual([401, 'sign_in_stale']);
    expect(await refusalOf(await other.post('/sign-in/factor/passkey'))).toEqual([401, 'sign_in_stale']);
  });

  test('counts only for one browser and one member', async () => {
    const [one, two] = [await somebody(), await somebody()];
    const app = await withApp(one.browser);
    await withApp(two.browser);
    const half = await afterPassword(two.email);
    expect(await refusalOf(await half.post('/sign-in/factor', { code: app.codeIn(0) }))).toEqual([
      401,
      'factor_refused',
    ]);
  });

  test('becomes invalid once the password or the member changes', async () => {
    const { id, email, browser } = await somebody();
    const { codeIn } = await withApp(browser);
    const half = await afterPassword(email);
    const changed = { currentPassword: password, newPassword: 'another long pass' };
    expect((await browser.post('/change-password', changed)).status).toBe(204);
    expect(await refusalOf(await half.post('/sign-in/factor', { code: codeIn(0) }))).toEqual([401, 'sign_in_stale']);
    const gone = openBrowser(services, signIn);
    await gone.post('/sign-in/email', { email, password: 'another long pass' });
    await removeMember(await testContext({ services }), { id });
    expect(await refusalOf(await gone.post('/sign-in/factor', { code: codeIn(0) }))).toEqual([401, 'sign_in_stale']);
  });

  test('is valid for the factor for ten minutes', async () => {
    const { email, browser } = await somebody();
    const { codeIn } = await withApp(browser);
    const half = await afterPassword(email);
    await services.db.update(authChallenges).set({ expiresAt: new Date() });
    expect(await refusalOf(await half.post('/sign-in/factor', { code: codeIn(0) }))).toEqual([401, 'sign_in_stale']);
  });
});

describe('an authenticator app', () => {
  test('signs in together with the password, and each code works once', async () => {
    const { id, email, browser } = await somebody();
    const { codeIn } = await withApp(browser);
    const code = codeIn(0);
    const first = await afterPassword(email);
    expect((await first.post('/sign-in/factor', { code: `${code.slice(0, 3)} ${code.slice(3)}` })).status).toBe(204);
    expect(await (await first.get('/get-session')).json()).toMatchObject({ user: { id } });
    const again = await afterPassword(email);
    expect(await refusalOf(await again.post('/sign-in/factor', { code }))).toEqual([401, 'factor_refused']);
    expect(await refusalOf(await again.post('/sign-in/factor', { code: codeIn(-1) }))).toEqual([401, 'factor_refused']);
    expect((await again.post('/sign-in/factor', { code: codeIn(1) })).status).toBe(204);
    const acts = await readActs(services.db, eq(auditEntries.targetId, id));
    expect(acts.filter(({ action }) => action === 'member.sign-in').map(({ details }) => details)).toEqual([
      { method: 'password' },
      { method: 'password', factor: 'totp' },
      { method: 'password', factor: 'totp' },
    ]);
  });

  test('of two concurrent uses of one code, one succeeds', async () => {
    const { email, browser } = await somebody();
    const { codeIn } = await withApp(browser);
    const both = [await afterPassword(email), await afterPassword(email)];
    const answers = await Promise.all(both.map((each) => each.post('/sign-in/factor', { code: codeIn(0) })));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([204, 401]);
  });

  test('a password that changes while the factor is verified starts no session', async () => {
    const { id, email, browser } = await somebody();
    const { codeIn } = await withApp(browser);
    const half = await afterPassword(email);
    const asked = await services.db.transaction(async (tx) => {
      await tx.update(accounts).set({ password: 'another hash' }).where(eq(accounts.userId, id));
      const answer = half.post('/sign-in/factor', { code: codeIn(0) });
      const waiting = sql`select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
      await expect.poll(async () => (await services.db.execute(waiting)).rowCount, { timeout: 10_000 }).toBe(1);
      return { answer };
    });
    expect(await refusalOf(await asked.answer)).toEqual([401, 'sign_in_stale']);
  });

  test('of two responses to one password, one starts a session', async () => {
    const { email, browser } = await somebody();
    const { codeIn } = await withApp(browser);
    const half = await afterPassword(email);
    const cookies = [...half.cookies];
    const twin = openBrowser(services, signIn);
    for (const [name, value] of cookies) twin.cookies.set(name, value);
    const answers = await Promise.all([
      half.post('/sign-in/factor', { code: codeIn(0) }),
      twin.post('/sign-in/factor', { code: codeIn(1) }),
    ]);
    expect(answers.map(({ status }) => status).toSorted()).toEqual([204, 401]);
  });

  test('guesses are limited, however often the password is repeated', async () => {
    const { email, browser } = await somebody();
    const { codeIn } = await withApp(browser);
    const answers: number[] = [];
    for (let turn = 0; turn < 3; turn++) {
      const half = openBrowser(services, signIn, `192.0.2.${turn + 10}`);
      await half.post('/sign-in/email', { email, password });
      for (let guess = 0; guess < 5; guess++) {
        answers.push((await half.post('/sign-in/factor', { code: '000000' })).status);
      }
      if (turn < 2) continue;
      expect(await refusalOf(await half.post('/sign-in/factor', { code: codeIn(0) }))).toEqual([
        429,
        'too_many_attempts',
      ]);
    }
    expect(answers).toEqual([...Array(10).fill(401), ...Array(5).fill(429)]);
  });

  test('is set up with a correct code for the secret that this session showed', async () => {
    const { id, browser } = await somebody();
    const { secret } = await startTotp(await browser.person());
    const code = () => new TOTP({ secret: Secret.fromBase32(secret) }).generate();
    expect(await codeOf(addTotp(await browser.person(), { code: '12345' }))).toBe('invalid');
    const wrong = String((Number(code()) + 1) % 1_000_000).padStart(6, '0');
    expect(await codeOf(addTotp(await browser.person(), { code: wrong }))).toBe('code_wrong');
    const other = await somebody();
    expect(await codeOf(addTotp(await other.browser.person(), { code: code() }))).toBe('totp_stale');
    const { recoveryCodes: codes } = await addTotp(await browser.person(), { code: code() });
    expect(codes).toHaveLength(10);
    expect(await codeOf(addTotp(await browser.person(), { code: code() }))).toBe('totp_stale');
    expect(await actsOn(id)).toContain('member.add-totp');
  });

  test('its secret is encrypted, bound to its owner, and not readable in the database', async () => {
    const { id, browser } = await somebody();
    const { secret, codes } = await withApp(browser);
    const rows = JSON.stringify([
      await services.db.select().from(totpFactors).where(eq(totpFactors.userId, id)),
      await services.db.select().from(recoveryCodes).where(eq(recoveryCodes.userId, id)),
      await services.db.select().from(authChallenges),
      await readActs(services.db, eq(auditEntries.targetId, id)),
    ]);
    for (const hidden of [secret, ...codes, ...codes.map((code) => code.replace('-', ''))]) {
      expect(rows).not.toContain(hidden);
    }
    const other = await somebody();
    await withApp(other.browser);
    const [stolen] = await services.db.select().from(totpFactors).where(eq(totpFactors.userId, id));
    if (stolen === undefined) throw new Error('no factor');
    await services.db.update(totpFactors).set({ secret: stolen.secret }).where(eq(totpFactors.userId, other.id));
    const half = await afterPassword(other.email);
    const { status } = await half.post('/sign-in/factor', { code: '123456' });
    expect(status).toBe(500);
  });
});

describe('recovery codes', () => {
  test('each work once, in whatever case and with whatever dashes', async () => {
    const { email, browser } = await somebody();
    const { codes } = await withApp(browser);
    const [code = ''] = codes;
    const half = await afterPassword(email);
    expect((await half.post('/sign-in/factor', { recoveryCode: ` ${code.toUpperCase()} ` })).status).toBe(204);
    const again = await afterPassword(email);
    expect(await refusalOf(await again.post('/sign-in/factor', { recoveryCode: code }))).toEqual([
      401,
      'factor_refused',
    ]);
    expect(await getAccount(await browser.person())).toMatchObject({ recoveryCodesLeft: 9 });
  });

  test('of two concurrent uses of one code, one succeeds', async () => {
    const { email, browser } = await somebody();
    const { codes } = await withApp(browser);
    const both = [await afterPassword(email), await afterPassword(email)];
    const uses = both.map((each) => each.post('/sign-in/factor', { recoveryCode: codes[0] }));
    expect((await Promise.all(uses)).map(({ status }) => status).toSorted()).toEqual([204, 401]);
  });

  test('of another member are rejected, and new codes replace the old', async () => {
    const [one, two] = [await somebody(), await somebody()];
    const { codes } = await withApp(one.browser);
    await withApp(two.browser);
    const half = await afterPassword(two.email);
    const foreign = await half.post('/sign-in/factor', { recoveryCode: codes[0] });
    expect(await refusalOf(foreign)).toEqual([401, 'factor_refused']);
    const { recoveryCodes: fresh } = await renewRecoveryCodes(await one.browser.person());
    const own = await afterPassword(one.email);
    expect((await own.post('/sign-in/factor', { recoveryCode: codes[0] })).status).toBe(401);
    expect((await own.post('/sign-in/factor', { recoveryCode: fresh[0] })).status).toBe(204);
  });

  test('are removed with the last factor, and cannot be created without a factor', async () => {
    const { id, email, browser } = await somebody();
    expect(await codeOf(renewRecoveryCodes(await browser.person()))).toBe('factor_missing');
    await withApp(browser);
    await removeTotp(await browser.person());
    expect(await codeOf(removeTotp(await browser.person()))).toBe('totp_unknown');
    expect(await services.db.select().from(recoveryCodes).where(eq(recoveryCodes.userId, id))).toEqual([]);
    const plain = openBrowser(services, signIn);
    expect((await plain.post('/sign-in/email', { email, password })).status).toBe(204);
  });
});

describe('a confirmation', () => {
  const late = () => new Date(Date.now() + confirmedFor + second);

  test('is required for every change of factors, and expires after ten minutes', async () => {
    const { browser } = await somebody();
    const { device } = await withPasskey(browser);
    await withApp(browser);
    const answer = device.get({ challenge: 'AAAA' });
    const changes: ((person: Awaited<ReturnType<Browser['person']>>) => Promise<unknown>)[] = [
      (person) => startPasskey(person),
      (person) => addPasskey(person, { name: 'X', answer: answer as never }),
      (person) => removePasskey(person, { id: device.id }),
      (person) => startTotp(person),
      (person) => addTotp(person, { code: '123456' }),
      (person) => removeTotp(person),
      (person) => renewRecoveryCodes(person),
    ];
    for (const change of changes)
      expect(await codeOf(change(await browser.person(late())))).toBe('confirmation_required');
  });

  test('is given by password, code or passkey, and counts only for this session', async () => {
    const { email, browser } = await somebody();
    const { device } = await withPasskey(browser);
    const { codeIn } = await withApp(browser);
    const other = await afterPassword(email);
    expect((await other.post('/sign-in/factor', { code: codeIn(0) })).status).toBe(204);
    expect(await codeOf(confirm(await browser.person(late()), { password: 'wrong password' }))).toBe('password_wrong');
    expect(await codeOf(startTotp(await browser.person(late())))).toBe('confirmation_required');
    await confirm(await browser.person(late()), { password });
    expect(await codeOf(startTotp(await browser.person(late())))).toBe('ok');
    expect(await codeOf(startTotp(await other.person(late())))).toBe('confirmation_required');
    const person = await other.person(late());
    const passkey = device.get(await startConfirmation(person));
    expect(await codeOf(confirm(person, { passkey }))).toBe('ok');
    expect(await codeOf(confirm(person, { passkey }))).toBe('factor_refused');
    expect(await codeOf(startTotp(await other.person(late())))).toBe('ok');
  });

  test('limits guesses', async () => {
    const { browser } = await somebody();
    const tries: unknown[] = [];
    for (let n = 0; n < 12; n++)
      tries.push(await codeOf(confirm(await browser.person(), { password: 'wrong password' })));
    expect(tries).toEqual([...Array(10).fill('password_wrong'), ...Array(2).fill('too_many_attempts')]);
  });
});

describe('an admin', () => {
  test('resets the factors of a member, whose sessions end', async () => {
    const { id, email, browser } = await somebody();
    await withPasskey(browser);
    await withApp(browser);
    expect(await codeOf(resetFactors(await testContext({ services, role: 'operator' }), { id }))).toBe('forbidden');
    await resetFactors(await testContext({ services }), { id });
    expect(await (await browser.get('/get-session')).json()).toEqual({ user: null });
    const plain = openBrowser(services, signIn);
    expect((await plain.post('/sign-in/email', { email, password })).status).toBe(204);
    const [act] = await readActs(
      services.db,
      and(eq(auditEntries.targetId, id), eq(auditEntries.action, 'member.reset-factors')),
    );
    expect(act?.details).toMatchObject({ passkeys: 1, totp: true, sessionsEnded: 1 });
    expect(await codeOf(resetFactors(await testContext({ services }), { id: 'nobody' }))).toBe('member_unknown');
  });

  test('can require a factor from everyone: a member without a factor can only set one up', async () => {
    const { services: own, signIn: ownSignIn } = await openFactorStage();
    const admin = await testContext({ services: own, actor: testBootstrap });
    const { link } = await createInvitation(admin, { role: 'admin' });
    const token = new URL(link).searchParams.get('token') ?? '';
    const email = 'ada@example.org';
    await redeemInvitation(await testContext({ services: own, role: null }), { token, name: 'Ada', email, password });
    const browser = openBrowser(own, ownSignIn);
    await browser.post('/sign-in/email', { email, password });
    expect(await getSignInRules(await browser.person())).toEqual({ requireFactor: false, membersWithoutFactor: 1 });
    expect(
      await codeOf(setSignInRules(await testContext({ services: own, role: 'viewer' }), { requireFactor: true })),
    ).toBe('forbidden');

    await setSignInRules(await browser.person(), { requireFactor: true });
    expect(await codeOf(getSignInRules(await browser.person()))).toBe('factor_required');
    expect(await codeOf(setSignInRules(await browser.person(), { requireFactor: false }))).toBe('factor_required');
    expect(await (await browser.get('/get-session')).json()).toMatchObject({ user: { role: null } });
    expect(await getAccount(await browser.person())).toMatchObject({ needsFactor: true, role: 'admin' });

    const { secret } = await startTotp(await browser.person());
    await addTotp(await browser.person(), { code: new TOTP({ secret: Secret.fromBase32(secret) }).generate() });
    expect(await getSignInRules(await browser.person())).toEqual({ requireFactor: true, membersWithoutFactor: 0 });
    await removeTotp(await browser.person());
    expect(await codeOf(getSignInRules(await browser.person()))).toBe('factor_required');
  });
});
