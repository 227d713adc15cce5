import { eq } from 'drizzle-orm';
import { z } from 'zod';
import { stockAgents } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import { count } from '#server/domain/answers.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { lockHead } from '#server/domain/goal-states/index.ts';
import { endHoldIn, readHold, setHoldIn } from '#server/domain/holds/index.ts';
import { parse } from '#server/domain/parse.ts';
import { type SetHoldInput, setHoldInput } from './input.ts';

/** Whether the agent is on hold, and the current incarnation. */
export const stockHold = z.object({ onHold: z.boolean(), incarnation: count });
export type StockHold = z.infer<typeof stockHold>;

/**
 * Puts a stock agent's VM on hold, without a reason or an end time, or releases the hold. If nothing changes, nothing
 * is recorded. On hold, the agent processes nothing and repeats its last report. Throws 404 `vm_unknown` |
 * `wire_access_absent`.
 */
export async function setHold(ctx: Context, input: SetHoldInput): Promise<StockHold> {
  allow(ctx.actor, 'operator');
  const { vmId, onHold } = parse(setHoldInput, input);
  return ctx.db.transaction(async (tx) => {
    const head = await lockHead(tx, vmId);
    const [stock] = await tx.select({ vmId: stockAgents.vmId }).from(stockAgents).where(eq(stockAgents.vmId, vmId));
    if (stock === undefined) throw new DomainError('not_found', 'wire_access_absent');
    const hold = await readHold(tx, vmId);
    if ((hold !== null) === onHold) return { onHold, incarnation: head.incarnation };
    const incarnation =
      hold === null
        ? await setHoldIn(tx, ctx, head, { reason: null, until: null })
        : await endHoldIn(tx, ctx, head, hold, 'hold.release');
    return { onHold, incarnation };
  });
}
