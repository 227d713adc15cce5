import type { Context } from '#server/domain/context.ts';
import { type IngestResult, ingestReport as ingest } from '#server/domain/reports/index.ts';
import { deleteVm } from '#server/domain/vm-lifecycle/index.ts';

/** Stores a report as the agent API does: if the report completes a decommissioning, deletes the VM. */
export const ingestReport = (ctx: Context, input: Parameters<typeof ingest>[1]): Promise<IngestResult> =>
  ingest(ctx, input, deleteVm);
