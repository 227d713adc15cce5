import { and, eq, gt, isNull } from 'drizzle-orm';
import { invitations, type Role } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import { parse } from '#server/domain/parse.ts';
import { sha256Hex } from '#server/platform/keys.ts';
import { type ReadInvitationInput, readInvitationInput } from './input.ts';
import { isSetUp, refusedInvitation } from './invitation.ts';

/**
 * Returns what a link offers: the role and the namespaces, the recipient, the time when the link expires, and whether
 * it is for the first administrator. Anyone who has the link may call this. Throws `invitation_refused`.
 */
export async function readInvitation(
  ctx: Context,
  input: ReadInvitationInput,
): Promise<{ role: Role; namespaces: string[]; recipient: string | null; expiresAt: Date; isFirstAdmin: boolean }> {
  const { token } = parse(readInvitationInput, input);
  const [row] = await ctx.db
    .select()
    .from(invitations)
    .where(
      and(eq(invitations.tokenHash, sha256Hex(token)), isNull(invitations.usedAt), gt(invitations.expiresAt, ctx.now)),
    );
  if (!row) throw refusedInvitation();
  const { role, namespaces, recipient, expiresAt } = row;
  return { role, namespaces, recipient, expiresAt, isFirstAdmin: isSetUp(row) };
}
