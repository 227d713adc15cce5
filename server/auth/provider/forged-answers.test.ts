import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Services } from '#server/domain/context.ts';
import { openBrowser } from '#server/testing/browser.ts';
import { testServices } from '#server/testing/context.ts';
import { type ScriptedProvider, type ScriptedToken, startScriptedProvider } from '#server/testing/scripted-provider.ts';
import { openSignIn, type SignIn } from '../index.ts';

const log = pino({ level: 'silent' });
const callback = 'http://localhost:3000/api/auth/oidc/callback';
const seconds = () => Math.floor(Date.now() / 1_000);
let provider: ScriptedProvider;
let services: Services;
let signIn: SignIn;

beforeAll(async () => {
  provider = await startScriptedProvider(callback);
  const base = await testServices();
  const openId = {
    issuer: provider.issuer,
    clientId: provider.clientId,
    clientSecret: { value: provider.clientSecret },
    name: 'Example',
    scopes: 'openid email profile',
    emailDomains: [],
    joinAs: 'viewer' as const,
    roles: { claim: 'groups', of: [{ group: 'admins', role: 'admin' as const }] },
  };
  services = { ...base, config: { ...base.config, openId } };
  signIn = openSignIn(services, log);
});
afterAll(() => provider.close());

/**
 * Signs in with this ID token. Returns the redirect target, and the email address of the member who is then signed in.
 */
async function signInWith(token: ScriptedToken, userInfo: Record<string, unknown> = { sub: 'ada' }) {
  provider.token = token;
  provider.userInfo = userInfo;
  const browser = openBrowser(services, signIn);
  const { address } = (await (await browser.post('/oidc/start')).json()) as { address: string };
  const back = new URL(provider.answerTo(address));
  const location = (await browser.get(`/oidc/callback${back.search}`)).headers.get('location');
  const { user } = (await (await browser.get('/get-session')).json()) as { user: { email: string } | null };
  return { location, email: user?.email ?? null };
}

test('accepts an ID token that the provider signed', async () => {
  expect(await signInWith({})).toEqual({ location: '/', email: 'ada@example.org' });
});

test.each<[string, ScriptedToken]>([
  ['signed with a key that is not the provider’s', { signer: 'stranger' }],
  ['signed with the client’s secret', { signer: 'secret' }],
  ['without a signature', { signer: 'none' }],
  ['that claims RS256 and has no signature', { signer: 'none', header: { alg: 'RS256' } }],
  ['altered after it was signed', { altered: { sub: 'someone else', email: 'boss@example.org' } }],
  ['with a key id that the provider does not publish', { header: { kid: 'key-2' } }],
  ['with another nonce', { claims: { nonce: 'of another question' } }],
  ['without a nonce', { claims: { nonce: undefined } }],
  ['for another client', { claims: { aud: 'another client' } }],
  ['for several clients, authorized for another', { claims: { aud: ['annex', 'another'], azp: 'another' } }],
  ['from another issuer', { claims: { iss: 'http://localhost:9' } }],
  ['that has expired', { claims: { exp: seconds() - 120 } }],
  ['without an expiry', { claims: { exp: undefined } }],
  ['issued in the future', { claims: { iat: seconds() + 600, exp: seconds() + 900 } }],
])('an ID token %s is rejected', async (_what, token) => {
  expect(await signInWith(token)).toEqual({ location: '/sign-in?refused=failed&next=%2F', email: null });
});

test('user info with another email address does not verify the address in the ID token', async () => {
  const claims = { sub: 'eve', email: 'boss@example.org', email_verified: undefined, groups: undefined };
  const userInfo = { sub: 'eve', email: 'eve@example.org', email_verified: true, groups: ['admins'] };
  expect(await signInWith({ claims }, userInfo)).toEqual({ location: '/sign-in?refused=email&next=%2F', email: null });
});
