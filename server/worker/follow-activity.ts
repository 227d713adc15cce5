import { ActivityWatch } from '#server/domain/audit/index.ts';
import { recordChange, recordChanges } from '#server/domain/changes/index.ts';
import type { OpenServices } from '#server/process/services.ts';
import type { Job } from './ticker.ts';

/** Above this many VMs one hint for all of them is sent to open screens. */
const mostHints = 20;

/** The jobs that check the activity: its newest acts every second, all of it piece by piece. Open screens hear of news. */
export function followActivity({ log }: OpenServices): Job[] {
  const watch = new ActivityWatch((fault) => log.error({ fault }, 'the activity was tampered with'));
  return [
    {
      name: 'follow-activity',
      everyMs: 500,
      quiet: true,
      async run(services, now) {
        const { count, vmIds, changed } = await watch.checkNewest(services, now);
        if (count === 0 && !changed) return 0;
        const keys = vmIds.length > mostHints ? ['*'] : vmIds.map((vmId) => vmId ?? '');
        await services.db.transaction((tx) => recordChanges(tx, 'act', changed ? [...new Set([...keys, ''])] : keys));
        return count;
      },
    },
    {
      name: 'check-activity',
      everyMs: 15_000,
      quiet: true,
      async run(services, now) {
        if (!(await watch.checkAll(services, now))) return 0;
        await services.db.transaction((tx) => recordChange(tx, 'act', ''));
        return 1;
      },
    },
  ];
}
