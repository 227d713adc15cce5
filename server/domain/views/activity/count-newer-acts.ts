import { and, asc, gt, max, sql } from 'drizzle-orm';
import { auditEntries } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { parse } from '#server/domain/parse.ts';
import { type CountNewerInput, countNewerInput } from '../input.ts';
import { conditionOf } from './activity-filter.ts';

/** Maximum count. An exact number above it is not useful. */
const most = 1_000;

/**
 * Counts the matching entries after a given one, up to 1,000. `newest` is the id of the newest counted entry, or `after`
 * if there is none; pass it as `upTo` to list entries up to that one.
 */
export async function countNewerActs(
  ctx: Context,
  input: CountNewerInput,
): Promise<{ count: number; atLeast: boolean; newest: number }> {
  allow(ctx.actor, 'viewer');
  const { after, ...filter } = parse(countNewerInput, input);
  const matches = await conditionOf(ctx, filter);
  const newer = ctx.db
    .select({ id: auditEntries.id })
    .from(auditEntries)
    .where(and(gt(auditEntries.id, after), matches))
    .orderBy(asc(auditEntries.id))
    .limit(most)
    .as('newer');
  const [found] = await ctx.db.select({ count: sql<number>`count(*)::int`, newest: max(newer.id) }).from(newer);
  const count = found?.count ?? 0;
  return { count, atLeast: count === most, newest: found?.newest ?? after };
}
