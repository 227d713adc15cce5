import { and, desc, eq } from 'drizzle-orm';
import { reportHistory } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { parse } from '#server/domain/parse.ts';
import { type ListLatestReportsInput, listLatestReportsInput } from './input.ts';
import type { PastReport } from './list-report-history.ts';

const kinds = ['handler', 'heartbeat', 'status'] as const;

/**
 * The newest document of each kind that an extension sent and that was shown, as it was sent. What is sent again
 * unchanged is kept once, so `at` is when it became so. Raw, so operators only.
 */
export async function listLatestReports(ctx: Context, input: ListLatestReportsInput): Promise<PastReport[]> {
  allow(ctx.actor, 'operator');
  const { vmId, extension } = parse(listLatestReportsInput, input);
  const found = await Promise.all(
    kinds.map((kind) =>
      ctx.db
        .select()
        .from(reportHistory)
        .where(
          and(
            eq(reportHistory.vmId, vmId),
            eq(reportHistory.extension, extension),
            eq(reportHistory.kind, kind),
            eq(reportHistory.current, true),
          ),
        )
        .orderBy(desc(reportHistory.at), desc(reportHistory.id))
        .limit(1),
    ),
  );
  return found.flat().map(({ vmId: _, at, ...row }) => ({ ...row, at: at.toISOString() }));
}
