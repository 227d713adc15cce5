import { z } from 'zod';
import { DomainError } from '#server/domain/error.ts';
import { parse } from '#server/domain/parse.ts';
import { household } from '#server/platform/household.ts';
import { readJsonBody } from '../body.ts';
import { challengeLife, openChallenge, takeChallenge } from '../challenges.ts';
import { setCookie } from '../cookies.ts';
import { ownPath } from '../origin.ts';
import { memberOf, ProviderAway, ProviderRefusal, type Refusal } from '../provider/index.ts';
import { startSession } from '../session.ts';
import { answer, type Call, dropCookie, tokenOf } from './call.ts';

const startInput = z.strictObject({
  next: z.string().max(2_000).optional(),
  invitation: z.string().max(200).optional(),
});

/** Gives the provider's address to send the browser to, and binds the answer to this browser by a cookie. */
export async function askProvider(call: Call): Promise<Response> {
  const { provider, throttles } = call.signIn;
  if (provider === null) throw new DomainError('not_found', 'not_found');
  const { next, invitation = null } = parse(startInput, await readJsonBody(call.request, call.config.limits));
  throttles.asking.take(household(call.address), call.now);
  const question = await provider.ask().catch((error: unknown) => {
    throw error instanceof ProviderAway ? new DomainError('unavailable', 'provider_away', { retryAfter: 15 }) : error;
  });
  const { state, nonce, verifier, address } = question;
  const asked = { state, nonce, verifier, next: ownPath(next), invitation };
  const token = await openChallenge(call, 'provider', asked, call.now);
  return answer({ address }, setCookie(call.config, 'provider', token, challengeLife));
}

/** Where the provider sends the browser back to: on to where it wanted, or to the sign-in with the reason. */
export async function hearProvider(call: Call): Promise<Response> {
  const { signIn, now, address, headers } = call;
  const { provider, throttles } = signIn;
  const token = tokenOf(call, 'provider');
  const asked = await takeChallenge(call, 'provider', token, now);
  const from = household(address);
  throttles.address.take(from, now);
  try {
    if (provider === null || asked === null) throw new ProviderRefusal('stale');
    const claims = await provider.read(new URL(call.request.url), asked, now);
    const cookie = await call.db.transaction(async (tx) => {
      const actor = await memberOf(tx, call, provider.issuer, claims, asked.invitation);
      return startSession(tx, call, actor, { method: 'provider', headers, address });
    });
    throttles.address.giveBack(from);
    return redirect(asked.next, cookie, dropCookie(call, 'provider'));
  } catch (error) {
    const reason = reasonOf(error);
    if (reason === null) throw error;
    call.log.info({ err: error, reason }, 'a sign-in by the provider was refused');
    const next = asked === null ? '' : `&next=${encodeURIComponent(asked.next)}`;
    return redirect(`/sign-in?refused=${reason}${next}`, dropCookie(call, 'provider'));
  }
}

/** Null for what is no refusal: a database that is away, a defect. */
function reasonOf(error: unknown): Refusal | null {
  if (error instanceof ProviderRefusal) return error.reason;
  if (error instanceof ProviderAway) return 'away';
  if (!(error instanceof Error)) return null;
  if (error.name === 'AuthorizationResponseError') return 'denied';
  // As `fetch` says that nobody answered.
  if (error instanceof TypeError && error.cause !== undefined && (error as { code?: unknown }).code === undefined)
    return 'away';
  // Everything that openid-client found wrong with answer, tokens or their transport.
  const code = (error as { code?: unknown }).code;
  const isOfLibrary = typeof code === 'string' && code.startsWith('OAUTH_');
  return isOfLibrary || ['ResponseBodyError', 'WWWAuthenticateChallengeError'].includes(error.name) ? 'failed' : null;
}

function redirect(path: string, ...cookies: string[]): Response {
  const response = new Response(null, { status: 303, headers: { location: path, 'referrer-policy': 'no-referrer' } });
  for (const cookie of cookies) response.headers.append('set-cookie', cookie);
  return response;
}
