import { eq } from 'drizzle-orm';
import { sessions } from '#db/schema/index.ts';
import { DomainError } from '#server/domain/error.ts';
import { parse } from '#server/domain/parse.ts';
import { takeChallenge } from '../challenges.ts';
import { takeFactor } from '../factors/index.ts';
import { verifyPassword } from '../password-hash.ts';
import { allowPerson, type PersonContext } from '../person.ts';
import { type ConfirmInput, confirmInput } from './input.ts';
import { passwordHashOf } from './password-of.ts';

/**
 * Confirms the member's identity by password or factor, for the next ten minutes of this session. Attempts are limited
 * as when signing in. Throws `password_wrong`, `factor_refused` or `too_many_attempts`.
 */
export async function confirm(ctx: PersonContext, input: ConfirmInput): Promise<void> {
  const { id, actor } = await allowPerson(ctx);
  const answer = parse(confirmInput, input);
  const key = `confirm ${actor.id}`;
  ctx.signIn.throttles.person.take(key, ctx.now);
  if ('password' in answer) {
    if (!(await verifyPassword(await passwordHashOf(ctx.db, actor.id), answer.password))) {
      const faults = [{ path: '/password', code: 'password_wrong' as const }];
      throw new DomainError('unprocessable', 'password_wrong', { faults });
    }
  }
  const expected = 'passkey' in answer ? await takeChallenge(ctx, 'confirm-passkey', id, ctx.now) : null;
  await ctx.db.transaction(async (tx) => {
    if (!('password' in answer)) {
      const challenge = expected?.challenge ?? null;
      await takeFactor(tx, ctx, { userId: actor.id, answer, challenge, now: ctx.now });
    }
    await tx.update(sessions).set({ confirmedAt: ctx.now }).where(eq(sessions.id, id));
  });
  ctx.signIn.throttles.person.giveBack(key);
}
