import { generateAuthenticationOptions } from '@simplewebauthn/server';
import { eq } from 'drizzle-orm';
import { users } from '#db/schema/index.ts';
import { DomainError } from '#server/domain/error.ts';
import { parse } from '#server/domain/parse.ts';
import { sha256Hex } from '#server/platform/keys.ts';
import { isPasswordStill, passwordHashOf } from '../account/index.ts';
import { readJsonBody } from '../body.ts';
import { openChallenge, takeChallenge, tryChallenge } from '../challenges.ts';
import { factorAnswer, passkeyRequest, takeFactor } from '../factors/index.ts';
import { startSession } from '../session.ts';
import { type AuthCall, answer, done, dropCookie, tokenOf } from './call.ts';
import { actorOf } from './password.ts';

/** Maximum number of attempts after a correct password. Afterwards, the password must be entered again. */
const maxTries = 10;

const tooLate = () => new DomainError('unauthenticated', 'sign_in_stale');

/** Creates the challenge for the member's passkeys, after the password was entered. Throws `sign_in_stale`. */
export async function askPasskeyAsFactor(call: AuthCall): Promise<Response> {
  const token = tokenOf(call, 'factor');
  const waiting = await tryChallenge(call, 'factor', token, call.now, maxTries);
  if (waiting === null || token === null) throw tooLate();
  const options = await generateAuthenticationOptions(await passkeyRequest(call, waiting.userId));
  await openChallenge(call, 'factor-passkey', { challenge: options.challenge }, call.now, token);
  return answer(options);
}

/**
 * Signs in with a factor after a correct password. Attempts are limited per member, regardless of the IP address.
 * Throws `factor_refused`, `too_many_attempts`, or `sign_in_stale` if the password must be entered again.
 */
export async function signInWithFactor(call: AuthCall): Promise<Response> {
  const shown = parse(factorAnswer, await readJsonBody(call.request, call.config.limits));
  const { now, keys, address, headers } = call;
  const token = tokenOf(call, 'factor');
  const waiting = await tryChallenge(call, 'factor', token, now, maxTries);
  if (waiting === null) throw tooLate();
  const { userId } = waiting;
  const throttle = call.signIn.throttles.person;
  throttle.take(`factor ${userId}`, now);
  const expected = 'passkey' in shown ? await takeChallenge(call, 'factor-passkey', token, now) : null;
  const cookie = await call.db.transaction(async (tx) => {
    // Of two concurrent calls for the same password entry, only one starts a session.
    if ((await takeChallenge({ db: tx, keys }, 'factor', token, now)) === null) throw tooLate();
    const [user] = await tx.select().from(users).where(eq(users.id, userId)).for('update');
    const hash = await passwordHashOf(tx, userId);
    if (!user || hash === null || sha256Hex(hash) !== waiting.passwordDigest) throw tooLate();
    // Locks the password until the end of the transaction. Otherwise, a session from an old password could outlive the
    // password change.
    if (!(await isPasswordStill(tx, userId, hash))) throw tooLate();
    const challenge = expected?.challenge ?? null;
    const factor = await takeFactor(tx, call, { userId, answer: shown, challenge, now });
    return startSession(tx, call, actorOf(user), { method: 'password', factor, headers, address });
  });
  throttle.giveBack(`factor ${userId}`);
  return done(cookie, dropCookie(call, 'factor'));
}
