import { eq, max, sql } from 'drizzle-orm';
import { accounts, passkeys, sessions, totpFactors, users } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import type { Member } from './member.ts';

/** Lists all members, sorted by name. */
export async function listMembers(ctx: Context): Promise<{ items: Member[] }> {
  allow(ctx.actor, 'admin');
  const items = await ctx.db
    .select({
      id: users.id,
      name: users.name,
      email: users.email,
      role: users.role,
      namespaces: users.namespaces,
      scripts: users.scripts,
      createdAt: users.createdAt,
      lastSeenAt: max(sessions.updatedAt),
      passkeys: sql<number>`(select count(*)::int from ${passkeys} where ${passkeys.userId} = ${users.id})`,
      totp: sql<boolean>`exists (select 1 from ${totpFactors} where ${totpFactors.userId} = ${users.id})`,
      hasProvider: sql<boolean>`exists (select 1 from ${accounts}
        where ${accounts.userId} = ${users.id} and ${accounts.providerId} <> 'credential')`,
    })
    .from(users)
    .leftJoin(sessions, eq(sessions.userId, users.id))
    .groupBy(users.id)
    .orderBy(sql`lower(${users.name})`, users.id);
  return { items };
}
