import { and, asc, gt, max, sql } from 'drizzle-orm';
import { auditEntries, healthTransitions } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { parse } from '#server/domain/parse.ts';
import { type ActivityFilter, type CountNewerInput, countNewerInput } from '../input.ts';
import { conditionOf } from './activity-filter.ts';
import { eventCondition } from './event-groups.ts';

/** Maximum count. An exact number above it is not useful. */
const most = 1_000;

/**
 * Counts the matching entries after a given entry and, with `afterEvent`, the events of VMs after a given event, up to
 * 1,000 of each. `newest` and `newestEvent` are the ids of the newest counted entry and event, or the given ids if
 * nothing was counted. Pass them as `upTo` and `upToEvent` to list everything up to these ids.
 */
export async function countNewerActs(
  ctx: Context,
  input: CountNewerInput,
): Promise<{ count: number; atLeast: boolean; newest: number; newestEvent: number }> {
  allow(ctx.actor, 'viewer');
  const { after, afterEvent, ...filter } = parse(countNewerInput, input);
  const matches = await conditionOf(ctx, filter);
  const newer = ctx.db
    .select({ id: auditEntries.id })
    .from(auditEntries)
    .where(and(gt(auditEntries.id, after), matches))
    .orderBy(asc(auditEntries.id))
    .limit(most)
    .as('newer');
  const [[found], events] = await Promise.all([
    ctx.db.select({ count: sql<number>`count(*)::int`, newest: max(newer.id) }).from(newer),
    afterEvent === undefined ? { n: 0, newest: null } : countNewerEvents(ctx, filter, afterEvent),
  ]);
  const acts = found?.count ?? 0;
  return {
    count: acts + events.n,
    atLeast: acts === most || events.n === most,
    newest: found?.newest ?? after,
    newestEvent: Number(events.newest ?? afterEvent ?? 0),
  };
}

async function countNewerEvents(ctx: Context, filter: ActivityFilter, after: number) {
  const matches = eventCondition(filter);
  if (matches === null) return { n: 0, newest: null };
  const { rows } = await ctx.db.execute<{ n: number; newest: string | null }>(sql`
    select count(*)::int as n, max(id) as newest from (
      select t.id from ${healthTransitions} t where t.id > ${after} and ${matches} order by t.id limit ${most}) newer`);
  return rows[0] ?? { n: 0, newest: null };
}
