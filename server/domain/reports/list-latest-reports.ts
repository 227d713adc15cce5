import { and, desc, eq } from 'drizzle-orm';
import { extensionLatest, extensionPulse, reportHistory } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { parse } from '#server/domain/parse.ts';
import { entryKinds } from './entries/index.ts';
import { type ListLatestReportsInput, listLatestReportsInput } from './input.ts';
import type { PastReport } from './list-report-history.ts';

/** `asRead`: its day is kept no longer, so that this is what was read from it, without what nobody reads. */
export type LatestReport = Omit<PastReport, 'id' | 'current'> & { asRead: boolean };

/**
 * The newest document of each kind that an extension sent and that was shown, as it was sent. What is sent again
 * unchanged is kept once, so `at` is when it became so. Raw, so operators only.
 */
export async function listLatestReports(ctx: Context, input: ListLatestReportsInput): Promise<LatestReport[]> {
  allow(ctx.actor, 'operator');
  const { vmId, extension } = parse(listLatestReportsInput, input);
  const [shown, ...sent] = await Promise.all([
    loadShown(ctx, vmId, extension),
    ...entryKinds.map(({ kind }) =>
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
  ]);
  return entryKinds.flatMap(({ kind }, index): LatestReport[] => {
    const row = sent[index]?.[0];
    if (row === undefined) return shown.filter((one) => one.kind === kind);
    const { at, sequenceNumber, document } = row;
    return [{ at: at.toISOString(), kind, extension, sequenceNumber, document, asRead: false }];
  });
}

/** What is shown of it, whenever that was sent. */
async function loadShown(ctx: Context, vmId: string, extension: string): Promise<LatestReport[]> {
  const [row] = await ctx.db
    .select({ latest: extensionLatest, pulse: extensionPulse })
    .from(extensionLatest)
    .innerJoin(
      extensionPulse,
      and(eq(extensionPulse.vmId, extensionLatest.vmId), eq(extensionPulse.name, extensionLatest.name)),
    )
    .where(and(eq(extensionLatest.vmId, vmId), eq(extensionLatest.name, extension)));
  if (row === undefined) return [];
  const { latest, pulse } = row;
  return entryKinds.flatMap(({ kind, shown }) => {
    const { document, at, sequenceNumber } = shown(latest, pulse);
    if (document === null || at === null) return [];
    return [{ at: at.toISOString(), kind, extension, sequenceNumber, document: { ...document }, asRead: true }];
  });
}
