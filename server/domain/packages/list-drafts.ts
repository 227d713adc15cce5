import { and, desc, eq, inArray, sql } from 'drizzle-orm';
import { handlers, handlerVersions } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';

/** A version that was uploaded but not published. */
export interface Draft {
  handler: string;
  version: string;
  createdAt: Date;
  createdBy: string;
  warnings: number;
}

const listed = 50;

/**
 * Lists the newest drafts that the actor can publish: drafts in the actor's namespaces or, for an admin, all drafts.
 */
export async function listDrafts(ctx: Context): Promise<{ items: Draft[]; total: number }> {
  allow(ctx.actor, 'publisher');
  const { role, namespaces } = ctx.actor;
  if (role !== 'admin' && namespaces.length === 0) return { items: [], total: 0 };
  const rows = await ctx.db
    .select({
      handler: handlerVersions.handler,
      version: handlerVersions.version,
      createdAt: handlerVersions.createdAt,
      createdBy: handlerVersions.createdBy,
      warnings: sql<number>`jsonb_array_length(${handlerVersions.warnings})`.mapWith(Number),
      total: sql<number>`count(*) over ()`.mapWith(Number),
    })
    .from(handlerVersions)
    .innerJoin(handlers, eq(handlers.id, handlerVersions.handler))
    .where(
      and(
        eq(handlerVersions.state, 'draft'),
        role === 'admin' ? undefined : inArray(handlers.namespace, [...namespaces]),
      ),
    )
    .orderBy(desc(handlerVersions.createdAt), handlerVersions.handler, desc(handlerVersions.versionKey))
    .limit(listed);
  return { items: rows.map(({ total: _, ...draft }) => draft), total: rows[0]?.total ?? 0 };
}
