import { clearRollouts } from '#server/domain/rollouts/index.ts';
import type { Job } from '../job.ts';

/** Deletes the steps and members of rollouts that ended long ago. */
export const clearRolloutsJob: Job = {
  name: 'clear-rollouts',
  periodSeconds: 60 * 60,
  statementTimeoutSeconds: 60,
  run: (ctx) => clearRollouts(ctx, ctx.now),
};
