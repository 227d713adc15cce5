import type { Services } from '#server/domain/context.ts';
import { checkCounts } from '#server/domain/health/index.ts';
import type { OpenServices } from '#server/process/services.ts';

/** The hour of the night (UTC) at which everything is counted. */
const nightHour = 3;

/**
 * A job that compares the fleet's counts with a counting of everything once a night, and says in the log when they
 * disagreed.
 */
export function createCountCheck({ log }: OpenServices): (services: Services, now: Date) => Promise<number> {
  let lastDay: string | null = null;
  return async (services, now) => {
    const day = now.toISOString().slice(0, 10);
    if (now.getUTCHours() !== nightHour || day === lastDay) return 0;
    const difference = await checkCounts(services, now);
    lastDay = day;
    const wrong = Object.keys(difference).length;
    if (wrong > 0) log.warn({ difference }, 'the counts of the fleet disagreed with its rows, and were mended');
    return wrong;
  };
}
