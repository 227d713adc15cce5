import { and, desc, eq, lt } from 'drizzle-orm';
import { reportHistory } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { readCursor, writeCursor } from '#server/domain/cursor.ts';
import { parse } from '#server/domain/parse.ts';
import { type ListReportHistoryInput, listReportHistoryInput } from './input.ts';

/** A report's entry as the agent sent it. */
export interface PastReport {
  id: number;
  at: string;
  kind: 'handler' | 'heartbeat' | 'status';
  extension: string;
  sequenceNumber: number | null;
  /** Whether it was shown when it came, or only kept. */
  current: boolean;
  document: Record<string, unknown>;
}

/** What was reported of a VM, newest first; raw documents, so operators only. Also of a VM that was deleted. */
export async function listReportHistory(
  ctx: Context,
  input: ListReportHistoryInput,
): Promise<{ items: PastReport[]; nextCursor: string | null }> {
  allow(ctx.actor, 'operator');
  const { vmId, extension, kind, limit, cursor } = parse(listReportHistoryInput, input);
  const below = cursor === undefined ? undefined : Number(readCursor(cursor, 1)[0]);
  const rows = await ctx.db
    .select()
    .from(reportHistory)
    .where(
      and(
        eq(reportHistory.vmId, vmId),
        extension === undefined ? undefined : eq(reportHistory.extension, extension),
        kind === undefined ? undefined : eq(reportHistory.kind, kind),
        below === undefined || !Number.isSafeInteger(below) ? undefined : lt(reportHistory.id, below),
      ),
    )
    .orderBy(desc(reportHistory.id))
    .limit(limit + 1);
  const items = rows.slice(0, limit).map(({ vmId: _, at, ...row }): PastReport => ({ ...row, at: at.toISOString() }));
  const last = items.at(-1);
  return { items, nextCursor: rows.length > limit && last ? writeCursor([String(last.id)]) : null };
}
