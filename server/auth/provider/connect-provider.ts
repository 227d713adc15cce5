import { and, eq, ne } from 'drizzle-orm';
import { v7 as uuid } from 'uuid';
import type { Transaction } from '#db/client.ts';
import { accounts, users } from '#db/schema/index.ts';
import { recordAudit } from '#server/domain/audit/index.ts';
import { recordChange } from '#server/domain/changes/index.ts';
import type { Context } from '#server/domain/context.ts';
import type { Claims } from './provider.ts';
import { ProviderRefusal } from './refusal.ts';

/**
 * Connects a provider account to the calling member. The account replaces any other account that the member has at this
 * provider. The caller must have checked the session and its recent confirmation. Throws `ProviderRefusal` with
 * `connected` if the account belongs to another member, or with `email` if its email domain is not allowed.
 */
export async function connectProvider(tx: Transaction, ctx: Context, issuer: string, claims: Claims): Promise<void> {
  requireDomain(ctx, claims);
  const { id } = ctx.actor;
  await tx.select({ id: users.id }).from(users).where(eq(users.id, id)).for('update');
  const [holder] = await tx
    .select({ userId: accounts.userId })
    .from(accounts)
    .where(and(eq(accounts.providerId, issuer), eq(accounts.accountId, claims.sub)));
  if (holder?.userId === id) return;
  if (holder) throw new ProviderRefusal('connected');
  await tx
    .delete(accounts)
    .where(and(eq(accounts.userId, id), eq(accounts.providerId, issuer), ne(accounts.accountId, claims.sub)));
  await bindAccount(tx, ctx, issuer, claims.sub);
  await recordChange(tx, 'member', id);
}

export async function bindAccount(tx: Transaction, ctx: Context, issuer: string, sub: string): Promise<void> {
  const { actor, now } = ctx;
  const bound = await tx
    .insert(accounts)
    .values({ id: uuid(), userId: actor.id, accountId: sub, providerId: issuer, createdAt: now, updatedAt: now })
    .onConflictDoNothing()
    .returning({ id: accounts.id });
  // A concurrent call has already connected this account to a member.
  if (bound.length === 0) throw new ProviderRefusal('connected');
  await recordAudit(tx, ctx, {
    action: 'member.link-provider',
    target: { kind: 'member', id: actor.id },
    details: { issuer },
  });
}

/** Rejects provider accounts whose verified email address is not in an allowed domain. */
export function requireDomain({ config }: Pick<Context, 'config'>, { verifiedEmail }: Claims): void {
  const domains = config.openId?.emailDomains ?? [];
  if (domains.length > 0 && !domains.includes(verifiedEmail?.split('@')[1] ?? '')) throw new ProviderRefusal('email');
}
