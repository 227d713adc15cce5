import { eq } from 'drizzle-orm';
import { z } from 'zod';
import { users } from '#db/schema/index.ts';
import type { Actor } from '#server/domain/actor.ts';
import { DomainError } from '#server/domain/error.ts';
import { parse } from '#server/domain/parse.ts';
import { household } from '#server/platform/household.ts';
import { sha256Hex } from '#server/platform/keys.ts';
import { changePassword, isPasswordStill, passwordHashOf } from '../account/index.ts';
import { readJsonBody } from '../body.ts';
import { challengeLife, openChallenge } from '../challenges.ts';
import { setCookie } from '../cookies.ts';
import { factorsOf, hasFactors } from '../factors/index.ts';
import { verifyPassword } from '../password-hash.ts';
import { startSession } from '../session.ts';
import { type AuthCall, answer, done } from './call.ts';

const signInInput = z.object({ email: z.string().max(254).trim().toLowerCase(), password: z.string().max(1_024) });

/** Returns the actor for a member's row. */
export const actorOf = ({ id, name, role, namespaces }: typeof users.$inferSelect): Actor => ({
  kind: 'user',
  id,
  name,
  role,
  namespaces,
});

const refused = () => new DomainError('unauthenticated', 'credentials_refused');

/**
 * Signs in with email and password. Returns 204 with the session's cookie. If the member has a second factor, returns
 * 200 with the kinds of factors, and a cookie that permits only presenting a factor. Throws `credentials_refused`;
 * for an unknown member, this takes as long as for a wrong password.
 */
export async function signInWithPassword(call: AuthCall): Promise<Response> {
  const { email, password } = parse(signInInput, await readJsonBody(call.request, call.config.limits));
  const { address, now, signIn, db } = call;
  const { throttles } = signIn;
  const from = household(address);
  const person = `${from} ${email}`;
  throttles.address.take(from, now);
  throttles.person.take(person, now);
  const [user] = await db.select().from(users).where(eq(users.email, email));
  const hash = user === undefined ? null : await passwordHashOf(db, user.id);
  const isRight = await verifyPassword(hash, password);
  if (!isRight || user === undefined || hash === null) throw refused();
  throttles.address.giveBack(from);
  throttles.person.giveBack(person);

  const factors = await factorsOf(db, user.id);
  if (hasFactors(factors)) {
    const token = await openChallenge(call, 'factor', { userId: user.id, passwordDigest: sha256Hex(hash) }, now);
    const kinds = { totp: factors.totp, passkey: factors.passkeys > 0, recoveryCode: factors.recoveryCodesLeft > 0 };
    return answer({ factors: kinds }, setCookie(call.config, 'factor', token, challengeLife));
  }
  return done(
    await db.transaction(async (tx) => {
      // The password may have changed since it was verified. A session from the old password would outlive the change.
      if (!(await isPasswordStill(tx, user.id, hash))) throw refused();
      return startSession(tx, call, actorOf(user), { method: 'password', headers: call.headers, address });
    }),
  );
}

/** Changes the password of the signed-in member (`changePassword`). The account page and scripts call this route. */
export async function putPassword(call: AuthCall): Promise<Response> {
  await changePassword(call, (await readJsonBody(call.request, call.config.limits)) as never);
  return done();
}
