import type { ChainFault } from '#db/schema/index.ts';
import { createChainCheck, linkActs } from '#server/domain/audit/index.ts';
import { recordChange, recordChanges } from '#server/domain/changes/index.ts';
import type { Services } from '#server/domain/context.ts';
import type { OpenServices } from '#server/process/services.ts';

/** Above this many things at once a screen had better be told once. */
const mostHints = 20;

/** Acts that one round links; a few seconds. */
const mostAtOnce = 10_000;

/** Links what was done since the last round, and tells open screens that there are new acts. Gives their number. */
export async function linkActivity(services: OpenServices, now: Date): Promise<number> {
  let total = 0;
  // After an upgrade there may be a million to link: other jobs get their turn in between.
  for (let more = true; more && total < mostAtOnce; ) {
    const { count, vmIds, anchor } = await linkActs(services, now);
    more = count === 1_000;
    total += count;
    if (anchor !== null) services.log.info(anchor, 'activity anchor');
    if (count === 0) break;
    const keys = vmIds.length > mostHints ? ['*'] : vmIds.map((vmId) => vmId ?? '');
    await services.db.transaction((tx) => recordChanges(tx, 'act', keys));
  }
  return total;
}

/**
 * A job that goes over the chain piece by piece; what does not hold is told in the log at every pass, and open screens
 * hear when it breaks and when it holds again.
 */
export function createActivityCheck({ log }: OpenServices): (services: Services, now: Date) => Promise<number> {
  const check = createChainCheck((fault: ChainFault) => log.error({ fault }, 'the activity was tampered with'));
  return async (services, now) => {
    if (await check(services, now)) await services.db.transaction((tx) => recordChange(tx, 'act', ''));
    return 0;
  };
}
