import type { ActivityWatch } from '#server/domain/audit/index.ts';
import { recordChanges } from '#server/domain/changes/index.ts';
import type { Job } from '../job.ts';

/** Both jobs of the activity write the same verdict and the same kept head, so they share one lock. */
export const activityLock = 'activity';
/** Above this many VMs, open screens get one hint for all of them. */
const maxHints = 20;

/** Checks the newest acts, and notifies open screens. */
export function followActivityJob(watch: ActivityWatch): Job {
  return {
    name: 'follow-activity',
    periodSeconds: 0.5,
    statementTimeoutSeconds: 15,
    lock: activityLock,
    quiet: true,
    async run(ctx) {
      const { count, vmIds, changed } = await watch.checkNewest(ctx, ctx.now);
      if (count === 0 && !changed) return 0;
      const keys = vmIds.length > maxHints ? ['*'] : vmIds.map((vmId) => vmId ?? '');
      await ctx.db.transaction((tx) => recordChanges(tx, 'act', changed ? [...new Set([...keys, ''])] : keys));
      return count;
    },
  };
}
