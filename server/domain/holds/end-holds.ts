import { asc, lte } from 'drizzle-orm';
import { holds } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { lockHead } from '#server/domain/goal-states/index.ts';
import { readHold } from './read-hold.ts';
import { endHoldIn } from './rows.ts';

/** Maximum number of holds that one call ends. */
const atOnce = 500;

/** Ends up to 500 holds whose end time has passed, earliest first. Returns the count. */
export async function endHolds(ctx: Context): Promise<number> {
  const due = await ctx.db
    .select({ vmId: holds.vmId })
    .from(holds)
    .where(lte(holds.until, ctx.now))
    .orderBy(asc(holds.until))
    .limit(atOnce);
  let ended = 0;
  for (const { vmId } of due) if (await endHold(ctx, vmId)) ended += 1;
  return ended;
}

/**
 * Ends a hold. Returns false if a person has released or extended it or deleted the VM since the holds were listed, or
 * if ending it failed.
 */
function endHold(ctx: Context, vmId: string): Promise<boolean> {
  return ctx.db
    .transaction(async (tx) => {
      const head = await lockHead(tx, vmId);
      const hold = await readHold(tx, vmId);
      if (hold?.until == null || new Date(hold.until) > ctx.now) return false;
      await endHoldIn(tx, ctx, head, hold, 'hold.end');
      return true;
    })
    .catch((error: unknown) => {
      // A failure must not delay the other holds. The next run tries again.
      const isGone = error instanceof DomainError && error.code === 'vm_unknown';
      if (!isGone) ctx.log.error({ err: error, vmId }, 'a hold could not be ended');
      return false;
    });
}
