import { and, eq, gt, isNull } from 'drizzle-orm';
import { invitations, type Role } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import { parse } from '#server/domain/parse.ts';
import { sha256Hex } from '#server/platform/keys.ts';
import { type ReadInvitationInput, readInvitationInput } from './input.ts';
import { isSetUp, refusedInvitation } from './invitation.ts';

/**
 * Returns the role that a link offers, when it expires, and whether it is for the first administrator. Anyone who has
 * the link may call this. Throws `invitation_refused`.
 */
export async function readInvitation(
  ctx: Context,
  input: ReadInvitationInput,
): Promise<{ role: Role; expiresAt: Date; isFirstAdmin: boolean }> {
  const { token } = parse(readInvitationInput, input);
  const [row] = await ctx.db
    .select()
    .from(invitations)
    .where(
      and(eq(invitations.tokenHash, sha256Hex(token)), isNull(invitations.usedAt), gt(invitations.expiresAt, ctx.now)),
    );
  if (!row) throw refusedInvitation();
  return { role: row.role, expiresAt: row.expiresAt, isFirstAdmin: isSetUp(row) };
}
