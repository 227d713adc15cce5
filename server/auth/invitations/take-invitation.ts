import { and, eq, gt, isNull } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { invitations, type Role, users } from '#db/schema/index.ts';
import type { Actor } from '#server/domain/actor.ts';
import { recordChange } from '#server/domain/changes/index.ts';
import type { Context } from '#server/domain/context.ts';
import { sha256Hex } from '#server/platform/keys.ts';
import { isSetUp, refusedInvitation } from './invitation.ts';

/**
 * Consumes a link in the caller's transaction: of two concurrent calls, one gets `invitation_refused`. Returns what the
 * link offers, and a function that records who joined.
 */
export async function takeInvitation(
  tx: Transaction,
  ctx: Context,
  token: string,
): Promise<{ role: Role; namespaces: string[]; usedBy(actor: Actor): Promise<void> }> {
  const [link] = await tx
    .update(invitations)
    .set({ usedAt: ctx.now })
    .where(
      and(eq(invitations.tokenHash, sha256Hex(token)), isNull(invitations.usedAt), gt(invitations.expiresAt, ctx.now)),
    )
    .returning();
  if (!link) throw refusedInvitation();
  if (isSetUp(link)) {
    const [admin] = await tx.select({ id: users.id }).from(users).where(eq(users.role, 'admin')).limit(1);
    if (admin) throw refusedInvitation();
  }
  const { id, role, namespaces } = link;
  return {
    role,
    namespaces,
    async usedBy(actor) {
      await tx.update(invitations).set({ usedBy: actor.id }).where(eq(invitations.id, id));
      await recordChange(tx, 'invitation', id);
    },
  };
}
