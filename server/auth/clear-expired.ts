import { and, lt, or, sql } from 'drizzle-orm';
import { apiTokens, invitations, sessions, verifications } from '#db/schema/auth.ts';
import type { Services } from '#server/domain/context.ts';

const dayMs = 24 * 60 * 60_000;

const hasCreatedNone = sql`not exists (
  select 1 from api_tokens as created where created.created_by = ${apiTokens}.id::text)`;

/**
 * Deletes expired sessions and verifications, and invitations and API tokens that ended more than `keptDays.ended` days
 * ago. Keeps tokens that were used to create other tokens, because they lead to the tokens to revoke when a member is
 * removed. Returns the number of deleted rows.
 */
export async function clearExpiredAccess({ db, config }: Services, now: Date): Promise<number> {
  const old = new Date(now.getTime() - config.keptDays.ended * dayMs);
  const gone = [
    await db.delete(sessions).where(lt(sessions.expiresAt, now)),
    await db.delete(verifications).where(lt(verifications.expiresAt, now)),
    await db.delete(invitations).where(lt(invitations.expiresAt, old)),
    await db
      .delete(apiTokens)
      .where(and(or(lt(apiTokens.expiresAt, old), lt(apiTokens.revokedAt, old)), hasCreatedNone)),
  ];
  return gone.reduce((sum, { rowCount }) => sum + (rowCount ?? 0), 0);
}
