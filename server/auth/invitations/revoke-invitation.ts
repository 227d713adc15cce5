import { and, eq, isNull } from 'drizzle-orm';
import { invitations } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import { recordAudit } from '#server/domain/audit/index.ts';
import { recordChange } from '#server/domain/changes/index.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { parse } from '#server/domain/parse.ts';
import { type RevokeInvitationInput, revokeInvitationInput } from './input.ts';

/** Revokes an unused invitation. The activity log still shows who created it. */
export async function revokeInvitation(ctx: Context, input: RevokeInvitationInput): Promise<void> {
  allow(ctx.actor, 'admin');
  const { id } = parse(revokeInvitationInput, input);
  await ctx.db.transaction(async (tx) => {
    const [gone] = await tx
      .delete(invitations)
      .where(and(eq(invitations.id, id), isNull(invitations.usedAt)))
      .returning({
        role: invitations.role,
        namespaces: invitations.namespaces,
        recipient: invitations.recipient,
        expiresAt: invitations.expiresAt,
      });
    if (!gone) throw new DomainError('not_found', 'invitation_unknown');
    await recordAudit(tx, ctx, {
      action: 'invitation.revoke',
      target: { kind: 'invitation', id },
      before: gone,
      details: { role: gone.role },
    });
    await recordChange(tx, 'invitation', id);
  });
}
