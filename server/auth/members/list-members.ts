import { eq, max } from 'drizzle-orm';
import { sessions, users } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import type { Member } from './member.ts';

/** Everybody who can sign in, by name. */
export async function listMembers(ctx: Context): Promise<{ items: Member[] }> {
  allow(ctx.actor, 'admin');
  const items = await ctx.db
    .select({
      id: users.id,
      name: users.name,
      email: users.email,
      role: users.role,
      namespaces: users.namespaces,
      createdAt: users.createdAt,
      lastSeenAt: max(sessions.updatedAt),
    })
    .from(users)
    .leftJoin(sessions, eq(sessions.userId, users.id))
    .groupBy(users.id)
    .orderBy(users.name, users.id);
  return { items };
}
