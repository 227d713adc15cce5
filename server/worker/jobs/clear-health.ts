import { clearHealth } from '#server/domain/health/index.ts';
import type { Job } from '../job.ts';

/** Deletes old health transitions, and thins out old version counts. */
export const clearHealthJob: Job = {
  name: 'clear-health',
  periodSeconds: 60 * 60,
  statementTimeoutSeconds: 60,
  run: (ctx) => clearHealth(ctx, ctx.now),
};
