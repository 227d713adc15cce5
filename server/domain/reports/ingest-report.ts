import type { Context } from '#server/domain/context.ts';
import { ingestBatch } from './ingest-batch.ts';
import { type DeleteVm, type IngestResult, ingestCarefully } from './ingest-carefully.ts';
import type { IngestReportInput } from './input.ts';
import { isPlain, prepareReport } from './prepare-report.ts';

/**
 * Stores an agent's report; everything is committed when the function returns. Entries are checked one by one: valid
 * entries are stored, and the faults of invalid entries are returned (the agent API responds with 207). If a report is
 * not newer than the last report of its run, only the agent's call is recorded. Throws 400 with the faults if there are
 * any and no entry could be stored, 413 above the limits, 401 for a deleted VM.
 */
export async function ingestReport(ctx: Context, input: IngestReportInput, deleteVm: DeleteVm): Promise<IngestResult> {
  const report = prepareReport(ctx, input);
  const taken = isPlain(report) ? (await ingestBatch(ctx.db, [report])).get(report.vmId) : undefined;
  return taken ?? ingestCarefully(ctx, report, deleteVm);
}
