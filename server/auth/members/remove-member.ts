import { eq } from 'drizzle-orm';
import { users } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import { recordAudit } from '#server/domain/audit/index.ts';
import { recordChange } from '#server/domain/changes/index.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { parse } from '#server/domain/parse.ts';
import { withdrawRights } from '../grants.ts';
import { type RemoveMemberInput, removeMemberInput } from './input.ts';
import { requireOtherAdmin } from './member.ts';

/**
 * Removes a member, including the password, factors and sessions, and revokes the API tokens and open invitations that
 * the member created. Problems that are assigned to the member become unassigned. The member's entries in the activity
 * log are kept.
 */
export async function removeMember(ctx: Context, input: RemoveMemberInput): Promise<void> {
  allow(ctx.actor, 'admin');
  const { id } = parse(removeMemberInput, input);
  await ctx.db.transaction(async (tx) => {
    const [member] = await tx.select().from(users).where(eq(users.id, id));
    if (!member) throw new DomainError('not_found', 'member_unknown');
    if (member.role === 'admin') await requireOtherAdmin(tx, id);
    await tx.select({ id: users.id }).from(users).where(eq(users.id, id)).for('update');
    await withdrawRights(tx, ctx, id, { before: member, after: null });
    await tx.delete(users).where(eq(users.id, id));
    await recordAudit(tx, ctx, {
      action: 'member.remove',
      target: { kind: 'member', id },
      before: { name: member.name, email: member.email, role: member.role, namespaces: member.namespaces },
      details: { name: member.name, role: member.role },
    });
    await recordChange(tx, 'member', id);
  });
}
