import type { Context } from '#server/domain/context.ts';
import { type IngestResult, ingestReport as ingest } from '#server/domain/reports/index.ts';
import { deleteVm } from '#server/domain/vm-lifecycle/index.ts';

/**
 * Stores a report as the agent API does, which also deletes a decommissioned VM once its last extension is uninstalled.
 */
export const ingestReport = (ctx: Context, input: Parameters<typeof ingest>[1]): Promise<IngestResult> =>
  ingest(ctx, input, deleteVm);
