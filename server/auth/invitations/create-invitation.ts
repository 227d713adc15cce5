import { v7 as uuid } from 'uuid';
import { invitations } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import { recordAudit } from '#server/domain/audit/index.ts';
import { recordChange } from '#server/domain/changes/index.ts';
import { parse } from '#server/domain/parse.ts';
import { insertPublisher, requirePublishers } from '#server/domain/publishers/index.ts';
import { newToken, sha256Hex } from '#server/platform/keys.ts';
import { holdAdmin } from '../grants.ts';
import { namespacesOf } from '../members/member.ts';
import { allowConfirmedCaller, type CallerContext } from '../person.ts';
import { type CreateInvitationInput, createInvitationInput } from './input.ts';
import { invitationLink } from './invitation.ts';

const hour = 3_600_000;

/**
 * Creates a one-time link for joining with this role. For the role `publisher`, also creates `newPublisher`, if given,
 * in the same transaction. Only this call returns the link. Members need a recent confirmation
 * (`confirmation_required`). Throws 409 `publisher_taken`, and 422 `namespace_unknown` for a namespace that does not
 * exist.
 */
export async function createInvitation(
  ctx: CallerContext,
  input: CreateInvitationInput,
): Promise<{ id: string; link: string; expiresAt: Date }> {
  allow(ctx.actor, 'admin');
  await allowConfirmedCaller(ctx);
  const { role, hours, recipient = null, newPublisher, ...given } = parse(createInvitationInput, input);
  const id = uuid();
  const token = newToken('join');
  const added = role === 'publisher' ? newPublisher : undefined;
  const namespaces = namespacesOf(role, [...given.namespaces, ...(added ? [added.namespace] : [])]);
  const expiresAt = new Date(ctx.now.getTime() + hours * hour);
  await ctx.db.transaction(async (tx) => {
    await holdAdmin(tx, ctx.actor);
    if (role === 'publisher') await requirePublishers(tx, given.namespaces);
    if (added) await insertPublisher(tx, ctx, added);
    await tx.insert(invitations).values({
      id,
      tokenHash: sha256Hex(token),
      role,
      namespaces,
      recipient,
      createdAt: ctx.now,
      createdBy: ctx.actor.id,
      expiresAt,
    });
    await recordAudit(tx, ctx, {
      action: 'invitation.create',
      target: { kind: 'invitation', id },
      after: { role, namespaces, recipient, expiresAt },
      details: { role },
    });
    await recordChange(tx, 'invitation', id);
  });
  return { id, link: invitationLink(ctx.config.url, token), expiresAt };
}
