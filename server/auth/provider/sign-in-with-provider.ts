import { and, eq } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { accounts, type Role, users } from '#db/schema/index.ts';
import { type Actor, canHoldScripts } from '#server/domain/actor.ts';
import { recordAudit } from '#server/domain/audit/index.ts';
import { recordChange } from '#server/domain/changes/index.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { withdrawRights } from '../grants.ts';
import { takeInvitation } from '../invitations/take-invitation.ts';
import { addMember } from '../members/add-member.ts';
import { includesRights, type Rights, requireOtherAdmin } from '../members/member.ts';
import { email as emailForm, personName } from '../passwords.ts';
import { bindAccount, requireDomain } from './connect-provider.ts';
import type { Claims } from './provider.ts';
import { ProviderRefusal } from './refusal.ts';

type Member = typeof users.$inferSelect;

/**
 * Returns the member for a provider account: the member who has connected it, an existing member with an invitation
 * (`mayConnect`), or a new member who was invited or whom the rules allow to join. An email address alone never
 * identifies an existing member: the provider may give the address to someone else, or the member may have joined with
 * an address that was not theirs. Throws `ProviderRefusal`; its reason `stranger` does not reveal who is a member.
 */
export async function memberOf(
  tx: Transaction,
  ctx: Context,
  issuer: string,
  claims: Claims,
  invitation: string | null,
): Promise<Actor> {
  const { openId } = ctx.config;
  requireDomain(ctx, claims);
  const role = openId?.roles?.of.find(({ group }) => claims.groups.includes(group))?.role ?? null;

  const [known] = await tx
    .select({ user: users })
    .from(accounts)
    .innerJoin(users, eq(users.id, accounts.userId))
    .where(and(eq(accounts.providerId, issuer), eq(accounts.accountId, claims.sub)));
  if (known) return withRole(tx, ctx, known.user, role);

  const joinAs = role ?? openId?.joinAs ?? null;
  if (invitation === null && joinAs === null) throw new ProviderRefusal('stranger');
  const email = emailForm.safeParse(claims.verifiedEmail ?? '');
  if (!email.success) throw new ProviderRefusal('email');
  const offered = invitation === null ? null : await offerOf(tx, ctx, invitation);
  const [existing] = await tx.select().from(users).where(eq(users.email, email.data)).for('update');
  if (existing && (offered === null || !(await mayConnect(tx, issuer, existing, offered)))) {
    throw new ProviderRefusal('taken');
  }
  const actor =
    existing === undefined
      ? await addMember(tx, ctx, {
          name: nameOf(claims.name, email.data),
          email: email.data,
          passwordHash: null,
          role: offered?.role ?? joinAs ?? 'viewer',
          namespaces: offered?.namespaces ?? [],
        })
      : await withRole(tx, ctx, existing, role);
  await offered?.usedBy(actor);
  await bindAccount(tx, { ...ctx, actor }, issuer, claims.sub);
  return actor;
}

/**
 * Whether an invitation may connect an existing member: only if the member has no account at this provider, and no
 * rights beyond those of the invitation. Otherwise, a link for a viewer could open an admin's account.
 */
async function mayConnect(tx: Transaction, issuer: string, member: Member, offered: Rights): Promise<boolean> {
  const other = await tx
    .select({ id: accounts.id })
    .from(accounts)
    .where(and(eq(accounts.userId, member.id), eq(accounts.providerId, issuer)));
  return other.length === 0 && includesRights(offered, member);
}

async function offerOf(tx: Transaction, ctx: Context, token: string) {
  return takeInvitation(tx, ctx, token).catch((error: unknown) => {
    throw error instanceof DomainError ? new ProviderRefusal('invitation') : error;
  });
}

/**
 * Gives the member the role that the provider's groups determine. Keeps the current role if none of the member's groups
 * has a role (`role` is null), or if the member is the last admin.
 */
async function withRole(tx: Transaction, ctx: Context, user: Member, role: Role | null): Promise<Actor> {
  const { id, name, namespaces } = user;
  if (role === null || role === user.role || (user.role === 'admin' && !(await hasOtherAdmin(tx, id)))) {
    return { kind: 'user', id, name, role: user.role, namespaces };
  }
  const actor: Actor = { kind: 'user', id, name, role, namespaces: role === 'publisher' ? namespaces : [] };
  await tx
    .update(users)
    .set({ role, namespaces: [...actor.namespaces], scripts: canHoldScripts(role) && user.scripts, updatedAt: ctx.now })
    .where(eq(users.id, id));
  await withdrawRights(tx, { ...ctx, actor }, id, { before: user, after: { role, namespaces: actor.namespaces } });
  await recordAudit(
    tx,
    { ...ctx, actor },
    {
      action: 'member.update',
      target: { kind: 'member', id },
      details: {
        name,
        from: { role: user.role, namespaces },
        to: { role, namespaces: actor.namespaces },
        by: 'provider',
      },
    },
  );
  await recordChange(tx, 'member', id);
  return actor;
}

async function hasOtherAdmin(tx: Transaction, id: string): Promise<boolean> {
  return requireOtherAdmin(tx, id).then(
    () => true,
    (error: unknown) => {
      if (error instanceof DomainError) return false;
      throw error;
    },
  );
}

/**
 * Returns the name from the provider if it is valid for a member, otherwise the part of the email address before the
 * @.
 */
function nameOf(name: string | null, email: string): string {
  return personName.safeParse(name).data ?? email.split('@')[0] ?? email;
}
