import { and, desc, eq, getTableColumns, lt, sql } from 'drizzle-orm';
import { z } from 'zod';
import { reportHistory } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import { count, time } from '#server/domain/answers.ts';
import type { Context } from '#server/domain/context.ts';
import { readCursor, writeCursor } from '#server/domain/cursor.ts';
import { DomainError } from '#server/domain/error.ts';
import { bytesBefore, maxListBytes, rowsFound } from '#server/domain/list-bytes.ts';
import { parse } from '#server/domain/parse.ts';
import { type ListReportHistoryInput, listReportHistoryInput } from './input.ts';

/** An entry of a report, as the agent sent it. */
export const pastReport = z.object({
  id: count,
  at: time,
  kind: z.enum(['handler', 'heartbeat', 'status']),
  extension: z.string(),
  sequenceNumber: count.nullable(),
  /** Whether the entry was shown when it arrived, or only stored. */
  current: z.boolean(),
  document: z.record(z.string(), z.unknown()),
});
export type PastReport = z.infer<typeof pastReport>;

/** Lists a VM's reports, newest first, even if the VM is deleted. For operators only, because documents are raw. */
export async function listReportHistory(
  ctx: Context,
  input: ListReportHistoryInput,
): Promise<{ items: PastReport[]; nextCursor: string | null }> {
  allow(ctx.actor, 'operator');
  const { vmId, extension, kind, limit, cursor } = parse(listReportHistoryInput, input);
  const page = ctx.db
    .select({ ...columns, micros })
    .from(reportHistory)
    .where(
      and(
        eq(reportHistory.vmId, vmId),
        extension === undefined ? undefined : eq(reportHistory.extension, extension),
        kind === undefined ? undefined : eq(reportHistory.kind, kind),
        cursor === undefined ? undefined : sql`(${reportHistory.at}, ${reportHistory.id}) < (${placeOf(cursor)})`,
      ),
    )
    .orderBy(desc(reportHistory.at), desc(reportHistory.id))
    .limit(limit + 1)
    .as('page');
  const newest = sql`${desc(page.at)}, ${desc(page.id)}`;
  const sized = ctx.db
    .select({
      id: page.id,
      at: page.at,
      kind: page.kind,
      extension: page.extension,
      sequenceNumber: page.sequenceNumber,
      current: page.current,
      document: page.document,
      micros: page.micros,
      bytesBefore: bytesBefore(page.document, newest),
      rowsFound,
    })
    .from(page)
    .as('sized');
  const rows = await ctx.db
    .select()
    .from(sized)
    .where(lt(sized.bytesBefore, maxListBytes))
    .orderBy(desc(sized.at), desc(sized.id));
  const shown = rows.slice(0, limit);
  const items = shown.map(
    ({ micros: _, bytesBefore: __, rowsFound: ___, at, ...row }): PastReport => ({ ...row, at: at.toISOString() }),
  );
  const last = shown.at(-1);
  const hasMore = last !== undefined && last.rowsFound > shown.length;
  return { items, nextCursor: hasMore ? writeCursor([last.micros, String(last.id)]) : null };
}

const { vmId: _, ...columns } = getTableColumns(reportHistory);

/** Microseconds since 1970, because PostgreSQL stores times with this precision. */
const micros = sql<string>`(extract(epoch from ${reportHistory.at}) * 1000000)::bigint::text`.as('micros');

/** Decodes a cursor: the time and the id of the last report that was returned. */
function placeOf(cursor: string) {
  const [at = '', id = ''] = readCursor(cursor, 2);
  if (![at, id].every((text) => /^\d{1,17}$/.test(text))) throw new DomainError('bad_request', 'cursor_invalid');
  return sql`timestamptz 'epoch' + ${at}::bigint * interval '1 microsecond', ${id}::bigint`;
}
