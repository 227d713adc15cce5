import { dropPartitions, makePartitions } from '#db/partitions.ts';
import type { Services } from '#server/domain/context.ts';

const dayMs = 24 * 60 * 60_000;

/**
 * Makes room for the reports of the days to come, and removes those of days that are kept no longer. Returns
 * how many days went.
 */
export async function keepPartitions({ db, config }: Services, now: Date): Promise<number> {
  const client = await db.$client.connect();
  try {
    await makePartitions(client, now);
    return await dropPartitions(client, new Date(now.getTime() - config.keptDays.reports * dayMs));
  } finally {
    // A connection whose lock nobody knows about is not given back to the pool.
    client.release(true);
  }
}
