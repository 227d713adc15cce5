import { eq } from 'drizzle-orm';
import { totpFactors } from '#db/schema/index.ts';
import { recordAudit } from '#server/domain/audit/index.ts';
import { recordChange } from '#server/domain/changes/index.ts';
import { DomainError } from '#server/domain/error.ts';
import { allowConfirmed, type PersonContext } from '../person.ts';
import { dropCodesWithoutFactor } from './recovery-codes.ts';

/**
 * Removes the caller's own authenticator app. Requires a recent confirmation. Throws `totp_unknown` if there is none.
 */
export async function removeTotp(ctx: PersonContext): Promise<void> {
  const { actor } = await allowConfirmed(ctx);
  await ctx.db.transaction(async (tx) => {
    const removed = await tx
      .delete(totpFactors)
      .where(eq(totpFactors.userId, actor.id))
      .returning({ userId: totpFactors.userId });
    if (removed.length === 0) throw new DomainError('not_found', 'totp_unknown');
    await dropCodesWithoutFactor(tx, actor.id);
    await recordAudit(
      tx,
      { ...ctx, actor },
      { action: 'member.remove-totp', target: { kind: 'member', id: actor.id } },
    );
    await recordChange(tx, 'member', actor.id);
  });
}
