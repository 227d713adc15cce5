import { clearRuns } from '#server/domain/services/index.ts';
import type { Job } from '../job.ts';

/** Deletes old runs of hooks. */
export const clearRunsJob: Job = {
  name: 'clear-runs',
  periodSeconds: 60 * 60,
  statementTimeoutSeconds: 60,
  run: (ctx) => clearRuns(ctx, ctx.now, ctx.config.keptDays.hooks),
};
