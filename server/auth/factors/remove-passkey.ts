import { and, eq } from 'drizzle-orm';
import { passkeys } from '#db/schema/index.ts';
import { recordAudit } from '#server/domain/audit/index.ts';
import { recordChange } from '#server/domain/changes/index.ts';
import { DomainError } from '#server/domain/error.ts';
import { parse } from '#server/domain/parse.ts';
import { allowConfirmed, type PersonContext } from '../person.ts';
import { type RemovePasskeyInput, removePasskeyInput } from './input.ts';
import { dropCodesWithoutFactor } from './recovery-codes.ts';

/** Removes one of the caller's own passkeys. Requires a recent confirmation. Throws `passkey_unknown`. */
export async function removePasskey(ctx: PersonContext, input: RemovePasskeyInput): Promise<void> {
  const { actor } = await allowConfirmed(ctx);
  const { id } = parse(removePasskeyInput, input);
  await ctx.db.transaction(async (tx) => {
    const [removed] = await tx
      .delete(passkeys)
      .where(and(eq(passkeys.id, id), eq(passkeys.userId, actor.id)))
      .returning({ name: passkeys.name });
    if (!removed) throw new DomainError('not_found', 'passkey_unknown');
    await dropCodesWithoutFactor(tx, actor.id);
    await recordAudit(
      tx,
      { ...ctx, actor },
      {
        action: 'member.remove-passkey',
        target: { kind: 'member', id: actor.id },
        details: { name: removed.name },
      },
    );
    await recordChange(tx, 'member', actor.id);
  });
}
