import { recordAudit } from '#server/domain/audit/index.ts';
import { recordChange } from '#server/domain/changes/index.ts';
import { DomainError } from '#server/domain/error.ts';
import { allowConfirmed, type PersonContext } from '../person.ts';
import { factorsOf, hasFactors } from './factors-of.ts';
import { makeRecoveryCodes } from './recovery-codes.ts';

/**
 * Replaces the recovery codes and returns the new ones, which are shown only once. Requires a recent confirmation.
 * Throws `factor_missing` if the member has no factor.
 */
export async function renewRecoveryCodes(ctx: PersonContext): Promise<{ recoveryCodes: string[] }> {
  const { actor } = await allowConfirmed(ctx);
  return ctx.db.transaction(async (tx) => {
    if (!hasFactors(await factorsOf(tx, actor.id))) throw new DomainError('conflict', 'factor_missing');
    const codes = await makeRecoveryCodes(tx, ctx, actor.id, ctx.now);
    await recordAudit(
      tx,
      { ...ctx, actor },
      {
        action: 'member.renew-recovery-codes',
        target: { kind: 'member', id: actor.id },
      },
    );
    await recordChange(tx, 'member', actor.id);
    return { recoveryCodes: codes };
  });
}
