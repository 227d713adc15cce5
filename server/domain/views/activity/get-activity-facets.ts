import { and, desc, eq, sql } from 'drizzle-orm';
import { auditEntries } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { parse } from '#server/domain/parse.ts';
import { type ActivityFacetsInput, activityFacetsInput } from '../input.ts';
import { visibleTo } from './activity-filter.ts';

/** Acts that are looked at, and values that are told of each kind: bounded, however long the activity is. */
const newest = 10_000;
const most = 50;

/** Who acted and what was done lately, most first: what there is to filter by. */
export interface ActivityFacets {
  actors: { kind: string; id: string; name: string; count: number }[];
  actions: { action: string; count: number }[];
}

/** Among the 10,000 newest acts that the reader may know of. */
export async function getActivityFacets(ctx: Context, input: ActivityFacetsInput): Promise<ActivityFacets> {
  allow(ctx.actor, 'viewer');
  const { vmId } = parse(activityFacetsInput, input ?? {});
  const recent = ctx.db
    .select({
      actorKind: auditEntries.actorKind,
      actorId: auditEntries.actorId,
      actorName: auditEntries.actorName,
      action: auditEntries.action,
      id: auditEntries.id,
    })
    .from(auditEntries)
    .where(and(visibleTo(ctx.actor), vmId === undefined ? undefined : eq(auditEntries.vmId, vmId)))
    .orderBy(desc(auditEntries.at), desc(auditEntries.id))
    .limit(newest)
    .as('recent');
  const count = sql<number>`count(*)::int`;
  const [actors, actions] = await Promise.all([
    ctx.db
      .select({
        kind: recent.actorKind,
        id: recent.actorId,
        // The name of today, where somebody was renamed.
        name: sql<string>`(array_agg(${recent.actorName} order by ${recent.id} desc))[1]`,
        count,
      })
      .from(recent)
      .groupBy(recent.actorKind, recent.actorId)
      .orderBy(desc(count))
      .limit(most),
    ctx.db
      .select({ action: recent.action, count })
      .from(recent)
      .groupBy(recent.action)
      .orderBy(desc(count))
      .limit(most),
  ]);
  return { actors, actions };
}
