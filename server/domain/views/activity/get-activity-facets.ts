import { and, desc, eq, sql } from 'drizzle-orm';
import { auditEntries } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { parse } from '#server/domain/parse.ts';
import { type ActivityFacetsInput, activityFacetsInput } from '../input.ts';
import { visibleTo } from './activity-filter.ts';

/** Maximum number of entries read, and of actors and of actions returned. */
const newest = 10_000;
const most = 50;

/** Recent actors and actions to filter by, most frequent first. */
export interface ActivityFacets {
  actors: { kind: string; id: string; name: string; count: number }[];
  actions: { action: string; count: number }[];
}

/** Counts actors and actions in the 10,000 newest entries that the caller can see. */
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
        // The newest name of the actor, because actors can be renamed.
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
