import { foldCounts } from '#server/domain/health/index.ts';
import type { Job } from '../job.ts';

/** Adds recorded differences to the fleet's counts. */
export const foldCountsJob: Job = {
  name: 'fold-counts',
  periodSeconds: 5,
  statementTimeoutSeconds: 15,
  quiet: true,
  run: (ctx) => foldCounts(ctx),
};
