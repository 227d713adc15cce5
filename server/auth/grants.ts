import { and, eq, inArray, isNull } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { apiTokens, invitations, users } from '#db/schema/index.ts';
import { type Actor, allow } from '#server/domain/actor.ts';
import { releaseProblems } from '#server/domain/attention/index.ts';
import { recordAudit } from '#server/domain/audit/index.ts';
import { recordChanges } from '#server/domain/changes/index.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { includesRights, type Rights } from './members/member.ts';

/**
 * Locks the member or API token that is about to create a token or an invitation, until the end of the transaction.
 * Otherwise, a concurrent `withdrawRights` would miss the new token or invitation. Rejects callers who have lost their
 * rights during the call.
 */
export async function holdAdmin(tx: Transaction, actor: Actor): Promise<void> {
  if (actor.kind === 'user') {
    const [user] = await tx.select({ role: users.role }).from(users).where(eq(users.id, actor.id)).for('share');
    if (!user) throw new DomainError('unauthenticated', 'unauthenticated');
    allow({ ...actor, role: user.role }, 'admin');
  }
  if (actor.kind === 'token') {
    const isValid = and(eq(apiTokens.id, actor.id), isNull(apiTokens.revokedAt));
    const [token] = await tx.select({ id: apiTokens.id }).from(apiTokens).where(isValid).for('share');
    if (!token) throw new DomainError('unauthenticated', 'token_refused');
  }
}

/**
 * Withdraws what a member may no longer have after a change of rights. If the member has fewer rights, revokes the API
 * tokens and open invitations that the member created. Unassigns problems if they cannot be assigned to members with
 * the new role. `after` is null if the member is about to be removed. The caller must have locked the member's row.
 */
export async function withdrawRights(
  tx: Transaction,
  ctx: Context,
  memberId: string,
  { before, after }: { before: Rights; after: Rights | null },
): Promise<void> {
  if (after === null || !includesRights(after, before)) await voidGrants(tx, ctx, memberId);
  await releaseProblems(tx, ctx, memberId, after?.role ?? null);
}

/** Revokes the API tokens and open invitations that were created by a member or with one of the member's API tokens. */
async function voidGrants(tx: Transaction, ctx: Context, memberId: string): Promise<void> {
  const tokens = await tokensOf(tx, memberId);
  const creators = [memberId, ...tokens.map(({ id }) => id)];
  const revoked = await tx
    .update(apiTokens)
    .set({ revokedAt: ctx.now })
    .where(and(inArray(apiTokens.createdBy, creators), isNull(apiTokens.revokedAt)))
    .returning({ id: apiTokens.id, name: apiTokens.name, role: apiTokens.role });
  const withdrawn = await tx
    .delete(invitations)
    .where(and(inArray(invitations.createdBy, creators), isNull(invitations.usedAt)))
    .returning({ id: invitations.id, role: invitations.role });
  for (const { id, name, role } of revoked) {
    await recordAudit(tx, ctx, {
      action: 'token.revoke',
      target: { kind: 'token', id },
      before: { revoked: false },
      after: { revoked: true },
      details: { name, role },
    });
  }
  for (const { id, role } of withdrawn) {
    await recordAudit(tx, ctx, { action: 'invitation.revoke', target: { kind: 'invitation', id }, details: { role } });
  }
  await recordChanges(
    tx,
    'token',
    revoked.map(({ id }) => id),
  );
  await recordChanges(
    tx,
    'invitation',
    withdrawn.map(({ id }) => id),
  );
}

/**
 * Returns the tokens that a member created, the tokens created with these tokens, and so on, including revoked tokens.
 */
async function tokensOf(tx: Transaction, memberId: string): Promise<{ id: string }[]> {
  const all: { id: string }[] = [];
  // Reads one generation per statement: locking a token waits for calls that are creating tokens with it, and the next
  // statement sees those tokens.
  for (let creators = [memberId]; creators.length > 0; ) {
    const found = await tx
      .select({ id: apiTokens.id })
      .from(apiTokens)
      .where(inArray(apiTokens.createdBy, creators))
      .orderBy(apiTokens.id)
      .for('update');
    all.push(...found);
    creators = found.map(({ id }) => id);
  }
  return all;
}
