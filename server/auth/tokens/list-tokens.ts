import { desc, eq } from 'drizzle-orm';
import { z } from 'zod';
import { apiTokens, users } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import { instant } from '#server/domain/answers.ts';
import type { Context } from '#server/domain/context.ts';
import { role } from '../members/input.ts';

/** An API token without its value. */
export const apiToken = z.object({
  id: z.uuid(),
  name: z.string(),
  role,
  namespaces: z.array(z.string()),
  /** Whether the token has the grant `scripts` (docs/permissions.md). */
  scripts: z.boolean(),
  createdAt: instant,
  /** Name of the member who created the token; null if the member was removed, or if no member created it. */
  createdBy: z.string().nullable(),
  expiresAt: instant.nullable(),
  /** Time of the last use, accurate to a minute. */
  lastUsedAt: instant.nullable(),
  /** IP address of the last use. */
  lastUsedFrom: z.string().nullable(),
  revokedAt: instant.nullable(),
});
export type ApiToken = z.infer<typeof apiToken>;

export const tokenList = z.object({ items: z.array(apiToken) });
export type TokenList = z.infer<typeof tokenList>;

/** Lists all tokens, including revoked ones, newest first. */
export async function listTokens(ctx: Context): Promise<TokenList> {
  allow(ctx.actor, 'admin');
  const items = await ctx.db
    .select({
      id: apiTokens.id,
      name: apiTokens.name,
      role: apiTokens.role,
      namespaces: apiTokens.namespaces,
      scripts: apiTokens.scripts,
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
