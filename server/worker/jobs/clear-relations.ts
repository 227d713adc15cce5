import { clearRelationEvents } from '#server/domain/services/index.ts';
import type { Job } from '../job.ts';

/** Deletes old events of relations. The current settings are kept. */
export const clearRelationsJob: Job = {
  name: 'clear-relations',
  periodSeconds: 60 * 60,
  statementTimeoutSeconds: 60,
  run: (ctx) => clearRelationEvents(ctx, ctx.now, ctx.config.keptDays.relations),
};
