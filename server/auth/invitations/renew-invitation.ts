import { and, eq, isNull } from 'drizzle-orm';
import { invitations, type Role } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import { recordAudit } from '#server/domain/audit/index.ts';
import { recordChange } from '#server/domain/changes/index.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { parse } from '#server/domain/parse.ts';
import { newToken, sha256Hex } from '#server/platform/keys.ts';
import { type RenewInvitationInput, renewInvitationInput } from './input.ts';
import { invitationLink, isSetUp } from './invitation.ts';

/**
 * A new link in place of one that nobody used yet, good for as long again; the old one is void. It is given back here
 * and never again. Throws `invitation_unknown`.
 */
export async function renewInvitation(
  ctx: Context,
  input: RenewInvitationInput,
): Promise<{ link: string; role: Role; expiresAt: Date }> {
  allow(ctx.actor, 'admin');
  const { id } = parse(renewInvitationInput, input);
  const token = newToken('join');
  return ctx.db.transaction(async (tx) => {
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
      .set({ tokenHash: sha256Hex(token), createdAt: ctx.now, expiresAt })
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
