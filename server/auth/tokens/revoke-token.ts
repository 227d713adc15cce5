import { and, eq, isNull } from 'drizzle-orm';
import { apiTokens } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import { recordAudit } from '#server/domain/audit/index.ts';
import { recordChange } from '#server/domain/changes/index.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { parse } from '#server/domain/parse.ts';
import { type RevokeTokenInput, revokeTokenInput } from './input.ts';

/**
 * Revokes a token immediately. It stays in the list as revoked until `clearExpiredAccess` deletes it. Throws
 * `token_unknown`.
 */
export async function revokeToken(ctx: Context, input: RevokeTokenInput): Promise<void> {
  allow(ctx.actor, 'admin');
  const { id } = parse(revokeTokenInput, input);
  await ctx.db.transaction(async (tx) => {
    const [revoked] = await tx
      .update(apiTokens)
      .set({ revokedAt: ctx.now })
      .where(and(eq(apiTokens.id, id), isNull(apiTokens.revokedAt)))
      .returning({ name: apiTokens.name, role: apiTokens.role });
    if (!revoked) throw new DomainError('not_found', 'token_unknown');
    await recordAudit(tx, ctx, {
      action: 'token.revoke',
      target: { kind: 'token', id },
      before: { revoked: false },
      after: { revoked: true },
      details: { name: revoked.name, role: revoked.role },
    });
    await recordChange(tx, 'token', id);
  });
}
