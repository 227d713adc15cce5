import { dropPartitions, makePartitions } from '#db/partitions.ts';
import type { Job } from '../job.ts';

const dayMs = 24 * 60 * 60_000;

/** Creates the partitions for the next days, and drops expired ones. */
export const keepPartitionsJob: Job = {
  name: 'keep-partitions',
  periodSeconds: 10 * 60,
  statementTimeoutSeconds: 60,
  async run({ db, config, now }) {
    const client = await db.$client.connect();
    let failed = true;
    try {
      await makePartitions(client, now);
      const dropped = await dropPartitions(client, new Date(now.getTime() - config.keptDays.reports * dayMs));
      failed = false;
      return dropped;
    } finally {
      // Closes the connection after a failure, because it may still hold the partitions' lock.
      client.release(failed);
    }
  },
};
