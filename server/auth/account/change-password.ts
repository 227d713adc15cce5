import { and, eq } from 'drizzle-orm';
import { accounts } from '#db/schema/index.ts';
import { recordAudit } from '#server/domain/audit/index.ts';
import { recordChange } from '#server/domain/changes/index.ts';
import { DomainError } from '#server/domain/error.ts';
import { parse } from '#server/domain/parse.ts';
import { hashPassword, verifyPassword } from '../password-hash.ts';
import { allowPerson, type PersonContext } from '../person.ts';
import { endSessionsOf } from '../session.ts';
import { type ChangePasswordInput, changePasswordInput } from './input.ts';
import { passwordHashOf } from './password-of.ts';

/** Changes the password and ends every other session of the member. Throws `password_wrong` or `too_many_attempts`. */
export async function changePassword(ctx: PersonContext, input: ChangePasswordInput): Promise<void> {
  const { id, actor } = await allowPerson(ctx);
  const { currentPassword, newPassword } = parse(changePasswordInput, input);
  const wrong = () =>
    new DomainError('unprocessable', 'password_wrong', {
      faults: [{ path: '/currentPassword', code: 'password_wrong' }],
    });
  // Limits the attempts; otherwise, anyone with access to the session could guess the password.
  const key = `change ${actor.id}`;
  ctx.signIn.throttles.person.take(key, ctx.now);
  const before = await passwordHashOf(ctx.db, actor.id);
  if (before === null || !(await verifyPassword(before, currentPassword))) throw wrong();
  ctx.signIn.throttles.person.giveBack(key);
  const password = await hashPassword(newPassword);
  await ctx.db.transaction(async (tx) => {
    const changed = await tx
      .update(accounts)
      .set({ password, updatedAt: ctx.now })
      .where(and(eq(accounts.userId, actor.id), eq(accounts.providerId, 'credential'), eq(accounts.password, before)))
      .returning({ id: accounts.id });
    // A concurrent change came first, so the given current password is outdated.
    if (changed.length === 0) throw wrong();
    const sessionsEnded = await endSessionsOf(tx, actor.id, id);
    await recordAudit(
      tx,
      { ...ctx, actor },
      {
        action: 'member.password',
        target: { kind: 'member', id: actor.id },
        details: { sessionsEnded },
      },
    );
    // When live connections receive this change, they check their session.
    await recordChange(tx, 'member', actor.id);
  });
}
