import type { Context } from '#server/domain/context.ts';
import { type IngestResult, ingestReport as ingest } from '#server/domain/reports/index.ts';
import { deleteVm } from '#server/domain/vm-lifecycle/index.ts';

/** Stores a report like the agent API, which also deletes a decommissioned VM after its last removal. */
export const ingestReport = (ctx: Context, input: Parameters<typeof ingest>[1]): Promise<IngestResult> =>
  ingest(ctx, input, deleteVm);
