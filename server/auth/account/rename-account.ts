import { eq } from 'drizzle-orm';
import { users } from '#db/schema/index.ts';
import { recordAudit } from '#server/domain/audit/index.ts';
import { recordChange } from '#server/domain/changes/index.ts';
import { parse } from '#server/domain/parse.ts';
import { allowPerson, type PersonContext } from '../person.ts';
import { type RenameAccountInput, renameAccountInput } from './input.ts';

/** Changes the caller's own name. Existing entries in the activity log keep the previous name. */
export async function renameAccount(ctx: PersonContext, input: RenameAccountInput): Promise<void> {
  const { actor } = await allowPerson(ctx);
  const { name } = parse(renameAccountInput, input);
  await ctx.db.transaction(async (tx) => {
    await tx.update(users).set({ name, updatedAt: ctx.now }).where(eq(users.id, actor.id));
    await recordAudit(
      tx,
      { ...ctx, actor },
      {
        action: 'member.rename',
        target: { kind: 'member', id: actor.id },
        details: { from: actor.name, to: name },
      },
    );
    await recordChange(tx, 'member', actor.id);
  });
}
