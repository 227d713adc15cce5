import { desc, eq } from 'drizzle-orm';
import { apiTokens, type Role, users } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';

/** A token without its value. */
export interface ApiToken {
  id: string;
  name: string;
  role: Role;
  namespaces: string[];
  createdAt: Date;
  /** Name of the member who made it; null when they are gone, or it was no member. */
  createdBy: string | null;
  expiresAt: Date | null;
  /** Within a minute. */
  lastUsedAt: Date | null;
  /** Address of the last use. */
  lastUsedFrom: string | null;
  revokedAt: Date | null;
}

/** All tokens, revoked ones too, newest first. */
export async function listTokens(ctx: Context): Promise<{ items: ApiToken[] }> {
  allow(ctx.actor, 'admin');
  const items = await ctx.db
    .select({
      id: apiTokens.id,
      name: apiTokens.name,
      role: apiTokens.role,
      namespaces: apiTokens.namespaces,
      createdAt: apiTokens.createdAt,
      createdBy: users.name,
      expiresAt: apiTokens.expiresAt,
      lastUsedAt: apiTokens.lastUsedAt,
      lastUsedFrom: apiTokens.lastUsedFrom,
      revokedAt: apiTokens.revokedAt,
    })
    .from(apiTokens)
    .leftJoin(users, eq(users.id, apiTokens.createdBy))
    .orderBy(desc(apiTokens.createdAt), desc(apiTokens.id));
  return { items };
}
