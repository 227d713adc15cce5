import type { ActivityWatch } from '#server/domain/audit/index.ts';
import { recordChanges } from '#server/domain/changes/index.ts';
import type { Job } from '../job.ts';

/** Lock of the two jobs that check the activity log, because they write the same verdict and the same stored head. */
export const activityLock = 'activity';
/** If more VMs than this are affected, open pages get one hint for all VMs. */
const maxHints = 20;

/** Checks the newest entries of the activity log, and notifies open pages of them. */
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
