import { and, isNull, lt, or, sql } from 'drizzle-orm';
import { apiTokens, invitations, sessions, verifications } from '#db/schema/auth.ts';
import { enrollmentTokens } from '#db/schema/enrollment.ts';
import type { Services } from '#server/domain/context.ts';

const dayMs = 24 * 60 * 60_000;

const hasCreatedNone = sql`not exists (
  select 1 from api_tokens as created where created.created_by = ${apiTokens}.id::text)`;

/**
 * Removes sessions that have ended, and invitations and tokens that ended long ago; until then they stay in the lists,
 * so that people see what became of them. None of them opens anything. A token that created others stays with them: it
 * leads from them to the member whose removal voids them.
 */
export async function clearExpired({ db, config }: Services, now: Date): Promise<number> {
  const old = new Date(now.getTime() - config.keptDays.ended * dayMs);
  const gone = [
    await db.delete(sessions).where(lt(sessions.expiresAt, now)),
    await db.delete(verifications).where(lt(verifications.expiresAt, now)),
    await db.delete(invitations).where(lt(invitations.expiresAt, old)),
    await db
      .delete(apiTokens)
      .where(and(or(lt(apiTokens.expiresAt, old), lt(apiTokens.revokedAt, old)), hasCreatedNone)),
    await db
      .delete(enrollmentTokens)
      .where(
        and(lt(enrollmentTokens.expiresAt, old), or(isNull(enrollmentTokens.usedAt), lt(enrollmentTokens.usedAt, old))),
      ),
  ];
  return gone.reduce((sum, { rowCount }) => sum + (rowCount ?? 0), 0);
}
