import { eq } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import { passkeys } from '#db/schema/index.ts';
import type { Services } from '#server/domain/context.ts';
import { openAuthenticator } from '#server/testing/authenticator.ts';
import { openBrowser, refusalOf } from '#server/testing/browser.ts';
import {
  type Browser,
  codeOf,
  type FactorStage,
  openFactorStage,
  origin,
  password,
  withPasskey,
} from '#server/testing/factor-stage.ts';
import { getAccount } from '../account/index.ts';
import type { SignIn } from '../index.ts';
import { addPasskey, removePasskey, renamePasskey, startPasskey } from './index.ts';

let stage: FactorStage;
let services: Services;
let signIn: SignIn;
beforeAll(async () => {
  stage = await openFactorStage();
  ({ services, signIn } = stage);
});

describe('a passkey', () => {
  const ask = async (browser: Browser) => (await browser.post('/sign-in/passkey/options')).json() as never;

  test('signs in without a password, and is marked as used', async () => {
    const { id, browser } = await stage.somebody();
    const { device, codes } = await withPasskey(browser);
    expect(codes).toHaveLength(10);
    const other = openBrowser(services, signIn);
    expect((await other.post('/sign-in/passkey', { passkey: device.get(await ask(other)) })).status).toBe(204);
    expect(await (await other.get('/get-session')).json()).toMatchObject({ user: { id } });
    const { passkeys: own } = await getAccount(await other.person());
    expect(own).toMatchObject([{ name: 'Laptop', lastUsedAt: expect.any(Date) }]);
    expect(await stage.actsOn(id)).toEqual(['member.join', 'member.sign-in', 'member.add-passkey', 'member.sign-in']);
  });

  test('signs in after the password', async () => {
    const { id, email, browser } = await stage.somebody();
    const { device } = await withPasskey(browser);
    const half = await stage.afterPassword(email);
    const options = (await (await half.post('/sign-in/factor/passkey')).json()) as never;
    expect(options).toMatchObject({ allowCredentials: [{ id: device.id }], userVerification: 'required' });
    expect((await half.post('/sign-in/factor', { passkey: device.get(options) })).status).toBe(204);
    expect(await (await half.get('/get-session')).json()).toMatchObject({ user: { id } });
  });

  test.each([
    ['another site', { origin: 'https://annex.evil.example' }],
    ['another site of the same machine', { origin: 'http://localhost:4000' }],
    ['another relying party', { rpId: 'evil.example' }],
    ['another challenge', { challenge: 'AAAA' }],
    ['an owner who was not verified', { userVerified: false }],
    ['a registration instead of a signature', { type: 'webauthn.create' }],
    ['an unknown credential id', { id: 'AAAAAAAAAAAAAAAAAAAAAA' }],
    ['a counter that decreased', { counter: 0 }],
  ])('is refused for %s', async (_what, twist) => {
    const { browser } = await stage.somebody();
    const { device } = await withPasskey(browser);
    const first = openBrowser(services, signIn);
    expect((await first.post('/sign-in/passkey', { passkey: device.get(await ask(first)) })).status).toBe(204);
    const other = openBrowser(services, signIn);
    const answer = await other.post('/sign-in/passkey', { passkey: device.get(await ask(other), twist) });
    expect(await refusalOf(answer)).toEqual([401, 'factor_refused']);
  });

  test('a response works once, in the browser of its challenge', async () => {
    const { browser } = await stage.somebody();
    const { device } = await withPasskey(browser);
    const asked = openBrowser(services, signIn);
    const passkey = device.get(await ask(asked));
    const thief = openBrowser(services, signIn);
    await ask(thief);
    expect(await refusalOf(await thief.post('/sign-in/passkey', { passkey }))).toEqual([401, 'factor_refused']);
    const cookies = [...asked.cookies];
    expect((await asked.post('/sign-in/passkey', { passkey })).status).toBe(204);
    for (const [name, value] of cookies) thief.cookies.set(name, value);
    expect(await refusalOf(await thief.post('/sign-in/passkey', { passkey }))).toEqual([401, 'factor_refused']);
  });

  test('of another member is not a second factor, and cannot be taken over', async () => {
    const [one, two] = [await stage.somebody(), await stage.somebody()];
    const { device } = await withPasskey(one.browser);
    await withPasskey(two.browser);
    const half = await stage.afterPassword(two.email);
    const options = (await (await half.post('/sign-in/factor/passkey')).json()) as never;
    const foreign = await half.post('/sign-in/factor', { passkey: device.get(options) });
    expect(await refusalOf(foreign)).toEqual([401, 'factor_refused']);
    const person = await two.browser.person();
    expect(await codeOf(renamePasskey(person, { id: device.id, name: 'Mine' }))).toBe('passkey_unknown');
    expect(await codeOf(removePasskey(person, { id: device.id }))).toBe('passkey_unknown');
    const again = device.create(await startPasskey(person));
    expect(await codeOf(addPasskey(person, { name: 'Mine', answer: again }))).toBe('passkey_known');
    expect(await services.db.select().from(passkeys).where(eq(passkeys.id, device.id))).toMatchObject([
      { userId: one.id, name: 'Laptop' },
    ]);
  });

  test.each([
    ['another site', { origin: 'https://annex.evil.example' }],
    ['another relying party', { rpId: 'evil.example' }],
    ['another challenge', { challenge: 'AAAA' }],
    ['an owner who was not verified', { userVerified: false }],
  ])('is not registered for %s', async (_what, twist) => {
    const { browser } = await stage.somebody();
    const device = openAuthenticator(origin);
    const answer = device.create(await startPasskey(await browser.person()), twist);
    expect(await codeOf(addPasskey(await browser.person(), { name: 'X', answer }))).toBe('passkey_refused');
    const honest = device.create(await startPasskey(await browser.person()));
    expect(await codeOf(addPasskey(await browser.person(), { name: 'X', answer: honest }))).toBe('ok');
    expect(await codeOf(addPasskey(await browser.person(), { name: 'X', answer: honest }))).toBe('passkey_refused');
  });

  test('can be renamed and removed', async () => {
    const { id, email, browser } = await stage.somebody();
    const { device } = await withPasskey(browser);
    await renamePasskey(await browser.person(), { id: device.id, name: 'Old laptop' });
    expect(await codeOf(renamePasskey(await browser.person(), { id: device.id, name: ' ' }))).toBe('invalid');
    await removePasskey(await browser.person(), { id: device.id });
    const other = openBrowser(services, signIn);
    const answer = await other.post('/sign-in/passkey', { passkey: device.get(await ask(other)) });
    expect(await refusalOf(answer)).toEqual([401, 'factor_refused']);
    expect((await other.post('/sign-in/email', { email, password })).status).toBe(204);
    expect(await stage.actsOn(id)).toEqual(expect.arrayContaining(['member.rename-passkey', 'member.remove-passkey']));
  });
});
