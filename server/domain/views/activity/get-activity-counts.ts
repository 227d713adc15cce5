import { and, eq, gte, lt, sql } from 'drizzle-orm';
import { auditEntries, healthTransitions, users } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { parse } from '#server/domain/parse.ts';
import { type ActivityCountsInput, activityCountsInput } from '../input.ts';
import { conditionOf } from './activity-filter.ts';
import { eventCondition } from './event-groups.ts';

/** Maximum count. An exact number above it is not useful. */
const most = 1_000;

/** Counts the actions and events within each of the given ranges, up to 1,000 per range. */
export async function getActivityCounts(
  ctx: Context,
  input: ActivityCountsInput,
): Promise<{ counts: { count: number; atLeast: boolean }[] }> {
  allow(ctx.actor, 'viewer');
  const { ranges, ...filter } = parse(activityCountsInput, input);
  const matches = await conditionOf(ctx, filter);
  const counts = await Promise.all(
    ranges.map(async ({ from, to }) => {
      const acts = ctx.db
        .select({ one: sql`1` })
        .from(auditEntries)
        .where(and(matches, gte(auditEntries.at, new Date(from)), to ? lt(auditEntries.at, new Date(to)) : undefined))
        .limit(most);
      const events = eventCondition({ ...filter, from, to });
      const { rows } = await ctx.db.execute<{ n: number }>(sql`
        select (select count(*) from (${acts}) a)::int + ${
          events === null
            ? sql`0`
            : sql`(select count(*) from (select from ${healthTransitions} t where ${events} limit ${most}) e)::int`
        } as n`);
      const found = rows[0]?.n ?? 0;
      return { count: Math.min(found, most), atLeast: found >= most };
    }),
  );
  return { counts };
}

/** Returns when the caller's previous visit ended; null for the first visit and for API tokens. */
export async function getLastVisit(ctx: Context): Promise<{ at: Date | null }> {
  allow(ctx.actor, 'viewer');
  if (ctx.actor.kind !== 'user') return { at: null };
  const [row] = await ctx.db.select({ at: users.previousSeenAt }).from(users).where(eq(users.id, ctx.actor.id));
  return { at: row?.at ?? null };
}
