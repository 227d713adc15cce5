import { and, eq, isNull, lt, or, sql } from 'drizzle-orm';
import { users } from '#db/schema/index.ts';
import type { Services } from '#server/domain/context.ts';

const minute = 60_000;
/** Minimum time between two updates of a member's last visit, in milliseconds. */
const noteEvery = 5 * minute;
/** A member who opened no page for this long starts a new visit. */
const visitGap = 30 * minute;

/**
 * Records that a member opened a page. Calls from pages that are already open do not count, because an open page keeps
 * calling the portal when no one is using it. Writes at most once every five minutes.
 */
export async function noteVisit({ db }: Pick<Services, 'db'>, memberId: string, now: Date): Promise<void> {
  const at = now.toISOString();
  await db
    .update(users)
    .set({
      previousSeenAt: sql`case when ${users.lastSeenAt} < ${at}::timestamptz - ${visitGap} * interval '1 millisecond'
        then ${users.lastSeenAt} else ${users.previousSeenAt} end`,
      lastSeenAt: now,
    })
    .where(
      and(
        eq(users.id, memberId),
        or(isNull(users.lastSeenAt), lt(users.lastSeenAt, new Date(now.getTime() - noteEvery))),
      ),
    );
}
