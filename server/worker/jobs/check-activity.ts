import type { ActivityWatch } from '#server/domain/audit/index.ts';
import { recordChange } from '#server/domain/changes/index.ts';
import type { Job } from '../job.ts';
import { activityLock } from './follow-activity.ts';

/**
 * Checks all entries of the activity log, one part per run. Notifies open pages if the fault in the verdict changed.
 */
export function checkActivityJob(watch: ActivityWatch): Job {
  return {
    name: 'check-activity',
    periodSeconds: 15,
    statementTimeoutSeconds: 15,
    lock: activityLock,
    quiet: true,
    async run(ctx) {
      if (!(await watch.checkAll(ctx, ctx.now))) return 0;
      await ctx.db.transaction((tx) => recordChange(tx, 'act', ''));
      return 1;
    },
  };
}
