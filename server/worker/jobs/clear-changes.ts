import { clearChanges } from '#server/domain/changes/index.ts';
import type { Job } from '../job.ts';

/** Deletes changes that every open page received long ago. */
export const clearChangesJob: Job = {
  name: 'clear-changes',
  periodSeconds: 60,
  statementTimeoutSeconds: 30,
  run: (ctx) => clearChanges(ctx, ctx.now),
};
