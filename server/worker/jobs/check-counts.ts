import { checkCounts } from '#server/domain/health/index.ts';
import type { Job } from '../job.ts';

/** Compares the fleet's counts with a count of all rows. Corrects wrong counts and logs the difference. */
export const checkCountsJob: Job = {
  name: 'check-counts',
  periodSeconds: 60 * 60,
  statementTimeoutSeconds: 120,
  quiet: true,
  async run(ctx) {
    const difference = await checkCounts(ctx, ctx.now);
    const wrong = Object.keys(difference).length;
    if (wrong > 0) ctx.log.warn({ difference }, 'the fleet counts differed from the rows and were corrected');
    return wrong;
  },
};
