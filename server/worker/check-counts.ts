import type { Services } from '#server/domain/context.ts';
import { checkCounts } from '#server/domain/health/index.ts';
import type { OpenServices } from '#server/process/services.ts';

/** A job that compares the fleet's counts with a counting of everything, and says in the log when they disagreed. */
export function createCountCheck({ log }: OpenServices): (services: Services, now: Date) => Promise<number> {
  return async (services, now) => {
    const difference = await checkCounts(services, now);
    const wrong = Object.keys(difference).length;
    if (wrong > 0) log.warn({ difference }, 'the counts of the fleet disagreed with its rows, and were mended');
    return wrong;
  };
}
