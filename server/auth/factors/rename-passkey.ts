import { and, eq } from 'drizzle-orm';
import { passkeys } from '#db/schema/index.ts';
import { recordAudit } from '#server/domain/audit/index.ts';
import { recordChange } from '#server/domain/changes/index.ts';
import { DomainError } from '#server/domain/error.ts';
import { parse } from '#server/domain/parse.ts';
import { allowPerson, type PersonContext } from '../person.ts';
import { type RenamePasskeyInput, renamePasskeyInput } from './input.ts';

/** Renames one of the caller's own passkeys. Throws `passkey_unknown`. */
export async function renamePasskey(ctx: PersonContext, input: RenamePasskeyInput): Promise<void> {
  const { actor } = await allowPerson(ctx);
  const { id, name } = parse(renamePasskeyInput, input);
  await ctx.db.transaction(async (tx) => {
    const renamed = await tx
      .update(passkeys)
      .set({ name })
      .where(and(eq(passkeys.id, id), eq(passkeys.userId, actor.id)))
      .returning({ id: passkeys.id });
    if (renamed.length === 0) throw new DomainError('not_found', 'passkey_unknown');
    await recordAudit(
      tx,
      { ...ctx, actor },
      {
        action: 'member.rename-passkey',
        target: { kind: 'member', id: actor.id },
        details: { name },
      },
    );
    await recordChange(tx, 'member', actor.id);
  });
}
