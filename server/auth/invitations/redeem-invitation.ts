import { and, eq, gt, isNull } from 'drizzle-orm';
import { invitations, users } from '#db/schema/index.ts';
import type { Actor } from '#server/domain/actor.ts';
import { recordChange } from '#server/domain/changes/index.ts';
import type { Context } from '#server/domain/context.ts';
import { parse } from '#server/domain/parse.ts';
import { sha256Hex } from '#server/platform/keys.ts';
import { addMember } from '../members/add-member.ts';
import { hashPassword } from '../password-hash.ts';
import { type RedeemInvitationInput, redeemInvitationInput } from './input.ts';
import { isSetUp, refusedInvitation } from './invitation.ts';
import { readInvitation } from './read-invitation.ts';

/**
 * Joins by a link, which serves once: of two at the same time one gets `invitation_refused`. Open to everyone who has
 * the link. Signing in afterwards is the door's part.
 */
export async function redeemInvitation(ctx: Context, input: RedeemInvitationInput): Promise<Actor> {
  const { token, name, email, password } = parse(redeemInvitationInput, input);
  // Guessed links cost no hash.
  await readInvitation(ctx, { token });
  const passwordHash = await hashPassword(password);
  return ctx.db.transaction(async (tx) => {
    const [link] = await tx
      .update(invitations)
      .set({ usedAt: ctx.now })
      .where(
        and(
          eq(invitations.tokenHash, sha256Hex(token)),
          isNull(invitations.usedAt),
          gt(invitations.expiresAt, ctx.now),
        ),
      )
      .returning();
    if (!link) throw refusedInvitation();
    if (isSetUp(link)) {
      const [admin] = await tx.select({ id: users.id }).from(users).where(eq(users.role, 'admin')).limit(1);
      if (admin) throw refusedInvitation();
    }
    const { role, namespaces } = link;
    const actor = await addMember(tx, ctx, { name, email, passwordHash, role, namespaces });
    await tx.update(invitations).set({ usedBy: actor.id }).where(eq(invitations.id, link.id));
    await recordChange(tx, 'invitation', link.id);
    return actor;
  });
}
