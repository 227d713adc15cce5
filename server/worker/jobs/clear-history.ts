import { clearHistory } from '#server/domain/reports/index.ts';
import type { Job } from '../job.ts';

/** Deletes the oldest reports of VMs whose stored reports exceed the limit. */
export const clearHistoryJob: Job = {
  name: 'clear-history',
  periodSeconds: 60 * 60,
  statementTimeoutSeconds: 60,
  run: (ctx) => clearHistory(ctx, ctx.now),
};
