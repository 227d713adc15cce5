import { and, asc, eq, gt, ilike, max, or, sql } from 'drizzle-orm';
import { z } from 'zod';
import { handlers, handlerVersions, publishers } from '#db/schema/index.ts';
import { packageKinds } from '#protocol/formula-words.ts';
import { allow } from '#server/domain/actor.ts';
import { count, instant } from '#server/domain/answers.ts';
import type { Context } from '#server/domain/context.ts';
import { readCursor, writeCursor } from '#server/domain/cursor.ts';
import { parse } from '#server/domain/parse.ts';
import { type ListHandlersInput, listHandlersInput } from './input.ts';

export const handlerSummary = z.object({
  handler: z.string(),
  namespace: z.string(),
  type: z.string(),
  kind: z.enum(packageKinds),
  publisher: z.string(),
  /** The highest published version; null if none is published. */
  latestVersion: z.string().nullable(),
  versions: z.object({ draft: count, published: count, withdrawn: count }),
  changedAt: instant,
});
export type HandlerSummary = z.infer<typeof handlerSummary>;

/** Lists handlers and formulas, or those of one kind, sorted by id, page by page. */
export async function listHandlers(
  ctx: Context,
  input: ListHandlersInput = {},
): Promise<{ items: HandlerSummary[]; nextCursor: string | null }> {
  allow(ctx.actor, 'viewer');
  const { kind, q, limit, cursor } = parse(listHandlersInput, input);
  const [after] = cursor === undefined ? [] : readCursor(cursor, 1);
  const like = q === undefined ? undefined : `%${q.replaceAll(/[\\%_]/g, '\\$&')}%`;
  const inState = (state: string) =>
    sql<number>`count(*) filter (where ${handlerVersions.state} = ${state})`.mapWith(Number);
  const rows = await ctx.db
    .select({
      handler: handlers.id,
      namespace: handlers.namespace,
      type: handlers.type,
      kind: handlers.kind,
      publisher: publishers.displayName,
      latestVersion: sql<
        string | null
      >`(array_agg(${handlerVersions.version} order by ${handlerVersions.versionKey} desc)
        filter (where ${handlerVersions.state} = 'published'))[1]`,
      draft: inState('draft'),
      published: inState('published'),
      withdrawn: inState('withdrawn'),
      changedAt: max(
        sql`greatest(${handlerVersions.createdAt}, ${handlerVersions.publishedAt}, ${handlerVersions.withdrawnAt})`,
      ).mapWith(handlerVersions.createdAt),
      createdAt: handlers.createdAt,
    })
    .from(handlers)
    .innerJoin(publishers, eq(publishers.namespace, handlers.namespace))
    .leftJoin(handlerVersions, eq(handlerVersions.handler, handlers.id))
    .where(
      and(
        kind === undefined ? undefined : eq(handlers.kind, kind),
        after === undefined ? undefined : gt(handlers.id, after),
        like === undefined ? undefined : or(ilike(handlers.id, like), ilike(publishers.displayName, like)),
      ),
    )
    .groupBy(handlers.id, publishers.displayName)
    .orderBy(asc(handlers.id))
    .limit(limit + 1);
  const items = rows.slice(0, limit).map(({ draft, published, withdrawn, createdAt, changedAt, ...row }) => ({
    ...row,
    versions: { draft, published, withdrawn },
    changedAt: changedAt ?? createdAt,
  }));
  const last = items.at(-1);
  return { items, nextCursor: rows.length > limit && last ? writeCursor([last.handler]) : null };
}
