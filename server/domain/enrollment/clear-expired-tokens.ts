import { and, isNull, lt, or } from 'drizzle-orm';
import { enrollmentTokens } from '#db/schema/index.ts';
import type { Services } from '#server/domain/context.ts';

const dayMs = 24 * 60 * 60_000;

/** Deletes enrollment tokens long after they expired or were used. Returns the count. */
export async function clearExpiredTokens({ db, config }: Services, now: Date): Promise<number> {
  const old = new Date(now.getTime() - config.keptDays.ended * dayMs);
  const { expiresAt, usedAt } = enrollmentTokens;
  const removed = await db.delete(enrollmentTokens).where(and(lt(expiresAt, old), or(isNull(usedAt), lt(usedAt, old))));
  return removed.rowCount ?? 0;
}
