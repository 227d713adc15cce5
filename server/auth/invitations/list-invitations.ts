import { and, desc, eq, gt, isNull } from 'drizzle-orm';
import { invitations, type Role, users } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';

/** An open invitation, without its link. */
export interface Invitation {
  id: string;
  role: Role;
  namespaces: string[];
  /** The person the invitation is for: a name or an email address; null if the creator named no one. */
  recipient: string | null;
  createdAt: Date;
  /** Name of the member who created the invitation; null if the member was removed, or if no member created it. */
  createdBy: string | null;
  expiresAt: Date;
}

/** Lists the invitations that can still be used, newest first. */
export async function listInvitations(ctx: Context): Promise<{ items: Invitation[] }> {
  allow(ctx.actor, 'admin');
  const items = await ctx.db
    .select({
      id: invitations.id,
      role: invitations.role,
      namespaces: invitations.namespaces,
      recipient: invitations.recipient,
      createdAt: invitations.createdAt,
      createdBy: users.name,
      expiresAt: invitations.expiresAt,
    })
    .from(invitations)
    .leftJoin(users, eq(users.id, invitations.createdBy))
    .where(and(isNull(invitations.usedAt), gt(invitations.expiresAt, ctx.now)))
    .orderBy(desc(invitations.createdAt), desc(invitations.id));
  return { items };
}
