import { and, desc, eq } from 'drizzle-orm';
import { extensionLatest, extensionPulse, reportHistory } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { parse } from '#server/domain/parse.ts';
import { entryKinds } from './entries/index.ts';
import { type ListLatestReportsInput, listLatestReportsInput } from './input.ts';
import type { PastReport } from './list-report-history.ts';

/** `asRead`: the raw document is no longer stored, so this is the parsed document, without unused fields. */
export type LatestReport = Omit<PastReport, 'id' | 'current'> & { asRead: boolean };

/**
 * Lists the shown document of each kind of an extension, as it was sent if that is still stored. A repeated document is
 * stored once, so `at` is when it first arrived. For operators only, because documents are raw.
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

/** Loads the documents that are shown, regardless of their age. */
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
