import { and, asc, gt, ilike, or } from 'drizzle-orm';
import { publishers } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { readCursor, writeCursor } from '#server/domain/cursor.ts';
import { parse } from '#server/domain/parse.ts';
import type { Publisher } from './create-publisher.ts';
import { type ListPublishersInput, listPublishersInput } from './input.ts';

/** Lists publishers, sorted by namespace, page by page. */
export async function listPublishers(
  ctx: Context,
  input: ListPublishersInput = {},
): Promise<{ items: Publisher[]; nextCursor: string | null }> {
  allow(ctx.actor, 'viewer');
  const { q, limit, cursor } = parse(listPublishersInput, input);
  const [after] = cursor === undefined ? [] : readCursor(cursor, 1);
  const like = q === undefined ? undefined : `%${q.replaceAll(/[\\%_]/g, '\\$&')}%`;
  const rows = await ctx.db
    .select()
    .from(publishers)
    .where(
      and(
        after === undefined ? undefined : gt(publishers.namespace, after),
        like === undefined ? undefined : or(ilike(publishers.namespace, like), ilike(publishers.displayName, like)),
      ),
    )
    .orderBy(asc(publishers.namespace))
    .limit(limit + 1);
  const items = rows.slice(0, limit);
  const last = items.at(-1);
  return { items, nextCursor: rows.length > limit && last ? writeCursor([last.namespace]) : null };
}
