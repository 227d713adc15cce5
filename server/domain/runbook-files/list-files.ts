import { and, asc, gt, ilike } from 'drizzle-orm';
import { runbookFiles } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { readCursor, writeCursor } from '#server/domain/cursor.ts';
import { parse } from '#server/domain/parse.ts';
import { type ListRunbookFilesInput, listRunbookFilesInput } from './input.ts';
import { type RunbookFile, runbookFileOf } from './runbook-file.ts';

/** Lists the files of execution plans, sorted by id. Throws 400 `cursor_invalid`. */
export async function listRunbookFiles(
  ctx: Context,
  input: ListRunbookFilesInput,
): Promise<{ items: RunbookFile[]; nextCursor: string | null }> {
  allow(ctx.actor, 'viewer');
  const { q, limit, cursor } = parse(listRunbookFilesInput, input);
  const pattern = q === undefined ? undefined : `%${q.replaceAll(/[\\%_]/g, '\\$&')}%`;
  const rows = await ctx.db
    .select()
    .from(runbookFiles)
    .where(
      and(
        pattern === undefined ? undefined : ilike(runbookFiles.id, pattern),
        cursor === undefined ? undefined : gt(runbookFiles.id, readCursor(cursor, 1)[0] ?? ''),
      ),
    )
    .orderBy(asc(runbookFiles.id))
    .limit(limit + 1);
  const items = rows.slice(0, limit).map(runbookFileOf);
  const last = items.at(-1);
  return { items, nextCursor: rows.length > limit && last ? writeCursor([last.id]) : null };
}
