import { eq } from 'drizzle-orm';
import { passkeys, recoveryCodes, totpFactors, users } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import { recordAudit } from '#server/domain/audit/index.ts';
import { recordChange } from '#server/domain/changes/index.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { parse } from '#server/domain/parse.ts';
import { endSessionsOf } from '../session.ts';
import { factorsOf } from './factors-of.ts';
import { type ResetFactorsInput, resetFactorsInput } from './input.ts';

/**
 * Removes all factors of a member who lost them, and ends the member's sessions. The password alone is then enough to
 * sign in, until the member sets up a new factor. Throws `member_unknown`.
 */
export async function resetFactors(ctx: Context, input: ResetFactorsInput): Promise<void> {
  allow(ctx.actor, 'admin');
  const { id } = parse(resetFactorsInput, input);
  await ctx.db.transaction(async (tx) => {
    const [member] = await tx.select().from(users).where(eq(users.id, id)).for('update');
    if (!member) throw new DomainError('not_found', 'member_unknown');
    const had = await factorsOf(tx, id);
    await tx.delete(passkeys).where(eq(passkeys.userId, id));
    await tx.delete(totpFactors).where(eq(totpFactors.userId, id));
    await tx.delete(recoveryCodes).where(eq(recoveryCodes.userId, id));
    const sessionsEnded = await endSessionsOf(tx, id);
    await recordAudit(tx, ctx, {
      action: 'member.reset-factors',
      target: { kind: 'member', id },
      details: { name: member.name, passkeys: had.passkeys, totp: had.totp, sessionsEnded },
    });
    await recordChange(tx, 'member', id);
  });
}
