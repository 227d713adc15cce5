import { generateAuthenticationOptions } from '@simplewebauthn/server';
import { eq } from 'drizzle-orm';
import { z } from 'zod';
import { users } from '#db/schema/index.ts';
import { parse } from '#server/domain/parse.ts';
import { household } from '#server/platform/household.ts';
import { readJsonBody } from '../body.ts';
import { challengeLife, openChallenge, takeChallenge } from '../challenges.ts';
import { setCookie } from '../cookies.ts';
import { passkeyAnswer, passkeyRequest, refusedFactor, takePasskeySignature } from '../factors/index.ts';
import { startSession } from '../session.ts';
import { type AuthCall, answer, done, dropCookie, tokenOf } from './call.ts';
import { actorOf } from './password.ts';

/** Creates a challenge for any passkey of this portal. A cookie binds it to this browser. */
export async function askPasskey(call: AuthCall): Promise<Response> {
  call.signIn.throttles.asking.take(household(call.address), call.now);
  const options = await generateAuthenticationOptions(await passkeyRequest(call, null));
  const token = await openChallenge(call, 'passkey', { challenge: options.challenge }, call.now);
  return answer(options, setCookie(call.config, 'passkey', token, challengeLife));
}

/**
 * Signs in with only a passkey, which counts as two factors: possession of the passkey, and user verification. Throws
 * `factor_refused`.
 */
export async function signInWithPasskey(call: AuthCall): Promise<Response> {
  const { passkey } = parse(
    z.strictObject({ passkey: passkeyAnswer }),
    await readJsonBody(call.request, call.config.limits),
  );
  const { now, address, headers } = call;
  const from = household(address);
  call.signIn.throttles.address.take(from, now);
  const expected = await takeChallenge(call, 'passkey', tokenOf(call, 'passkey'), now);
  if (expected === null) throw refusedFactor();
  const { challenge } = expected;
  const cookie = await call.db.transaction(async (tx) => {
    const userId = await takePasskeySignature(tx, call, { answer: passkey, challenge, userId: null, now });
    const [user] = await tx.select().from(users).where(eq(users.id, userId));
    if (!user) throw refusedFactor();
    return startSession(tx, call, actorOf(user), { method: 'passkey', headers, address });
  });
  call.signIn.throttles.address.giveBack(from);
  return done(cookie, dropCookie(call, 'passkey'));
}
