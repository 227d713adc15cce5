import { eq } from 'drizzle-orm';
import { users } from '#db/schema/index.ts';
import { allow, canHoldScripts } from '#server/domain/actor.ts';
import { recordAudit } from '#server/domain/audit/index.ts';
import { recordChange } from '#server/domain/changes/index.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { parse } from '#server/domain/parse.ts';
import { requirePublishers } from '#server/domain/publishers/index.ts';
import { withdrawRights } from '../grants.ts';
import { type UpdateMemberInput, updateMemberInput } from './input.ts';
import { namespacesOf, requireOtherAdmin } from './member.ts';

/**
 * Changes a member's name, role, namespaces or grant `scripts`, effective from the member's next call. The last admin
 * cannot be demoted. Members who lose rights also lose the API tokens and open invitations that they created, and
 * members who become viewers or publishers lose the problems that are assigned to them. Throws `namespace_unknown` for
 * a new namespace that does not exist.
 */
export async function updateMember(ctx: Context, input: UpdateMemberInput): Promise<void> {
  allow(ctx.actor, 'admin');
  const { id, ...wanted } = parse(updateMemberInput, input);
  await ctx.db.transaction(async (tx) => {
    if (wanted.role !== undefined && wanted.role !== 'admin') await requireOtherAdminIfAdmin(tx, id);
    const [before] = await tx.select().from(users).where(eq(users.id, id)).for('update');
    if (!before) throw new DomainError('not_found', 'member_unknown');
    const role = wanted.role ?? before.role;
    if (role === 'publisher') await requirePublishers(tx, wanted.namespaces ?? [], before.namespaces);
    const after = {
      name: wanted.name ?? before.name,
      role,
      namespaces: namespacesOf(role, wanted.namespaces ?? before.namespaces),
      scripts: canHoldScripts(role) && (wanted.scripts ?? before.scripts),
    };
    await tx
      .update(users)
      .set({ ...after, updatedAt: ctx.now })
      .where(eq(users.id, id));
    await withdrawRights(tx, ctx, id, { before, after });
    await recordAudit(tx, ctx, {
      action: 'member.update',
      target: { kind: 'member', id },
      before: { name: before.name, role: before.role, namespaces: before.namespaces, scripts: before.scripts },
      after,
      details: { name: after.name, role },
    });
    await recordChange(tx, 'member', id);
  });
}

type Tx = Parameters<typeof requireOtherAdmin>[0];

async function requireOtherAdminIfAdmin(tx: Tx, id: string): Promise<void> {
  const [member] = await tx.select({ role: users.role }).from(users).where(eq(users.id, id));
  if (member?.role === 'admin') await requireOtherAdmin(tx, id);
}
