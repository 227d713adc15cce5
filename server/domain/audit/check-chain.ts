import { isDeepStrictEqual } from 'node:util';
import { eq } from 'drizzle-orm';
import { auditChain, type ChainFault } from '#db/schema/index.ts';
import type { Services } from '#server/domain/context.ts';
import { endWalk, type Walk, walkOn, walkStart } from './chain.ts';

/** Rows that one step looks at: a fraction of a second. */
const atOnce = 5_000;

/**
 * Walks the chain again and again, a piece at each call, and keeps what a whole pass found beside the chain's head.
 * Calls `onFault` with the first fault of a pass; gives true when it found something else than the pass before.
 */
export function createChainCheck(
  onFault: (fault: ChainFault) => void,
): (services: Pick<Services, 'db' | 'keys'>, now: Date) => Promise<boolean> {
  let walk: Walk = walkStart;
  let found: ChainFault | null = null;
  return async (services, now) => {
    const step = await walkOn(services, walk, atOnce);
    walk = step.walk;
    found ??= step.faults[0] ?? null;
    if (!step.done) return false;
    const end = await endWalk(services, walk);
    found ??= end.faults[0] ?? null;
    const [before] = await services.db.select({ fault: auditChain.fault }).from(auditChain).where(eq(auditChain.id, 1));
    await services.db
      .update(auditChain)
      .set({ verifiedAt: now, verifiedPosition: end.walk.position, fault: found })
      .where(eq(auditChain.id, 1));
    if (found !== null) onFault(found);
    const isNews = !isDeepStrictEqual(before?.fault ?? null, found);
    walk = walkStart;
    found = null;
    return isNews;
  };
}
