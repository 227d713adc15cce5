import { clearRelationEvents, clearRuns } from '#server/domain/services/index.ts';
import type { Job } from '../job.ts';

/** Deletes old runs of hooks, and old events of relations. */
export const clearServicesJob: Job = {
  name: 'clear-services',
  periodSeconds: 10 * 60,
  statementTimeoutSeconds: 60,
  run: async (ctx) => {
    const { hooks, relations } = ctx.config.keptDays;
    return (await clearRuns(ctx, ctx.now, hooks)) + (await clearRelationEvents(ctx, ctx.now, relations));
  },
};
