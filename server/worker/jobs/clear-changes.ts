import { clearChanges } from '#server/domain/changes/index.ts';
import type { Job } from '../job.ts';

/** Deletes old changes, which every connected page has received by now. */
export const clearChangesJob: Job = {
  name: 'clear-changes',
  periodSeconds: 60,
  statementTimeoutSeconds: 30,
  run: (ctx) => clearChanges(ctx, ctx.now),
};
