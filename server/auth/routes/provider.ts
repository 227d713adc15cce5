import { z } from 'zod';
import { DomainError } from '#server/domain/error.ts';
import { parse } from '#server/domain/parse.ts';
import { household } from '#server/platform/household.ts';
import { readJsonBody } from '../body.ts';
import { challengeLife, openChallenge, takeChallenge } from '../challenges.ts';
import { setCookie } from '../cookies.ts';
import { ownPath } from '../origin.ts';
import { allowConfirmed } from '../person.ts';
import {
  type Claims,
  connectProvider,
  memberOf,
  ProviderAway,
  ProviderRefusal,
  type Refusal,
} from '../provider/index.ts';
import { startSession } from '../session.ts';
import { type AuthCall, answer, dropCookie, tokenOf } from './call.ts';

const startInput = z.strictObject({
  next: z.string().max(2_000).optional(),
  invitation: z.string().max(200).optional(),
  /** If true, connects the provider account to the signed-in member instead of signing in. */
  connect: z.literal(true).optional(),
});

const accountPage = '/settings/account';

/**
 * Returns the provider's URL to send the browser to. A cookie binds the provider's response to this browser. Connecting
 * an account requires a session with a recent confirmation.
 */
export async function askProvider(call: AuthCall): Promise<Response> {
  const { provider, throttles } = call.signIn;
  if (provider === null) throw new DomainError('not_found', 'not_found');
  const input = parse(startInput, await readJsonBody(call.request, call.config.limits));
  const connect = input.connect === true ? { connect: (await allowConfirmed(call)).id } : {};
  const next = input.connect === true ? accountPage : ownPath(input.next);
  throttles.asking.take(household(call.address), call.now);
  const question = await provider.ask().catch((error: unknown) => {
    throw error instanceof ProviderAway ? new DomainError('unavailable', 'provider_away', { retryAfter: 15 }) : error;
  });
  const { state, nonce, verifier, address } = question;
  const expected = { state, nonce, verifier, next, invitation: input.invitation ?? null, ...connect };
  const token = await openChallenge(call, 'provider', expected, call.now);
  return answer({ address }, setCookie(call.config, 'provider', token, challengeLife));
}

/**
 * Handles the provider's redirect back: redirects to the requested page, or to the sign-in or account page with the
 * reason for the failure. Any website can make a browser load this URL, so a call without the challenge's cookie does
 * not count as an attempt.
 */
export async function hearProvider(call: AuthCall): Promise<Response> {
  const { signIn, now, address } = call;
  const { provider, throttles } = signIn;
  const token = tokenOf(call, 'provider');
  if (token === null) return redirect(refusedPath(null, 'stale'));
  const expected = await takeChallenge(call, 'provider', token, now);
  const from = household(address);
  throttles.address.take(from, now);
  try {
    if (provider === null || expected === null) throw new ProviderRefusal('stale');
    const claims = await provider.read(new URL(call.request.url), expected, now);
    const cookies = await (expected.connect === undefined
      ? signInBy(call, provider.issuer, claims, expected.invitation)
      : connectTo(call, provider.issuer, claims, expected.connect));
    throttles.address.giveBack(from);
    return redirect(expected.next, ...cookies, dropCookie(call, 'provider'));
  } catch (error) {
    const reason = reasonOf(error);
    if (reason === null) throw error;
    call.log.debug({ err: error, reason }, 'what the provider answered');
    if (reason !== 'away' && reason !== 'denied') signIn.attempts.provider(reason, address);
    return redirect(refusedPath(expected, reason), dropCookie(call, 'provider'));
  }
}

async function signInBy(call: AuthCall, issuer: string, claims: Claims, invitation: string | null): Promise<string[]> {
  const { headers, address } = call;
  const cookie = await call.db.transaction(async (tx) => {
    const actor = await memberOf(tx, call, issuer, claims, invitation);
    return startSession(tx, call, actor, { method: 'provider', headers, address });
  });
  return [cookie];
}

/**
 * Connects the account. Throws `ProviderRefusal` with `stale` if the browser no longer has the session that started the
 * connection.
 */
async function connectTo(call: AuthCall, issuer: string, claims: Claims, sessionId: string): Promise<string[]> {
  const session = await call.session();
  if (session?.id !== sessionId) throw new ProviderRefusal('stale');
  await call.db.transaction((tx) => connectProvider(tx, { ...call, actor: session.actor }, issuer, claims));
  return [];
}

function refusedPath(expected: { next: string; connect?: string } | null, reason: Refusal): string {
  if (expected?.connect !== undefined) return `${accountPage}?refused=${reason}`;
  const next = expected === null ? '' : `&next=${encodeURIComponent(expected.next)}`;
  return `/sign-in?refused=${reason}${next}`;
}

/** Returns the reason that the page shows for a failure; null for other errors, such as an unavailable database. */
function reasonOf(error: unknown): Refusal | null {
  if (error instanceof ProviderRefusal) return error.reason;
  if (error instanceof ProviderAway) return 'away';
  // Someone else joined with this email address concurrently.
  if (error instanceof DomainError && error.code === 'email_taken') return 'taken';
  if (!(error instanceof Error)) return null;
  if (error.name === 'AuthorizationResponseError') return 'denied';
  // `fetch` could not reach the provider.
  if (error instanceof TypeError && error.cause !== undefined && (error as { code?: unknown }).code === undefined)
    return 'away';
  // openid-client sets a code on errors about the response, the tokens or their transport.
  const code = (error as { code?: unknown }).code;
  const isOfLibrary = typeof code === 'string' && code.startsWith('OAUTH_');
  return isOfLibrary || ['ResponseBodyError', 'WWWAuthenticateChallengeError'].includes(error.name) ? 'failed' : null;
}

function redirect(path: string, ...cookies: string[]): Response {
  const response = new Response(null, { status: 303, headers: { location: path, 'referrer-policy': 'no-referrer' } });
  for (const cookie of cookies) response.headers.append('set-cookie', cookie);
  return response;
}
