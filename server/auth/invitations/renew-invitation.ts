import { and, eq, isNull } from 'drizzle-orm';
import { invitations, type Role } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import { recordAudit } from '#server/domain/audit/index.ts';
import { recordChange } from '#server/domain/changes/index.ts';
import { DomainError } from '#server/domain/error.ts';
import { parse } from '#server/domain/parse.ts';
import { newToken, sha256Hex } from '#server/platform/keys.ts';
import { holdAdmin } from '../grants.ts';
import { allowConfirmedCaller, type CallerContext } from '../person.ts';
import { type RenewInvitationInput, renewInvitationInput } from './input.ts';
import { invitationLink, isSetUp } from './invitation.ts';

/**
 * Replaces the link of an unused invitation with a new link of the same lifetime. The old link may have expired. Only
 * this call returns the new link. The caller becomes the invitation's creator. Members need a recent confirmation.
 * Throws `invitation_unknown` or `confirmation_required`.
 */
export async function renewInvitation(
  ctx: CallerContext,
  input: RenewInvitationInput,
): Promise<{ link: string; role: Role; expiresAt: Date }> {
  allow(ctx.actor, 'admin');
  await allowConfirmedCaller(ctx);
  const { id } = parse(renewInvitationInput, input);
  const token = newToken('join');
  return ctx.db.transaction(async (tx) => {
    await holdAdmin(tx, ctx.actor);
    const [before] = await tx
      .select()
      .from(invitations)
      .where(and(eq(invitations.id, id), isNull(invitations.usedAt)))
      .for('update');
    if (!before || isSetUp(before)) throw new DomainError('not_found', 'invitation_unknown');
    const { role, createdAt } = before;
    const expiresAt = new Date(ctx.now.getTime() + before.expiresAt.getTime() - createdAt.getTime());
    await tx
      .update(invitations)
      .set({ tokenHash: sha256Hex(token), createdAt: ctx.now, createdBy: ctx.actor.id, expiresAt })
      .where(eq(invitations.id, id));
    await recordAudit(tx, ctx, {
      action: 'invitation.renew',
      target: { kind: 'invitation', id },
      details: { role, expiresAt },
    });
    await recordChange(tx, 'invitation', id);
    return { link: invitationLink(ctx.config.url, token), role, expiresAt };
  });
}
