import { clearLogs } from '#server/domain/logs/index.ts';
import type { Job } from '../job.ts';

/** Deletes expired outputs and log archives. */
export const clearLogsJob: Job = {
  name: 'clear-logs',
  periodSeconds: 60 * 60,
  statementTimeoutSeconds: 60,
  run: (ctx) => clearLogs(ctx, ctx.now),
};
