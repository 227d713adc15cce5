import { clearExecutions } from '#server/domain/executions/index.ts';
import type { Job } from '../job.ts';

/** Deletes old executions. */
export const clearExecutionsJob: Job = {
  name: 'clear-executions',
  periodSeconds: 60 * 60,
  statementTimeoutSeconds: 60,
  run: (ctx) => clearExecutions(ctx, ctx.now),
};
