import { eq } from 'drizzle-orm';
import { z } from 'zod';
import { stockAgents } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import { count } from '#server/domain/answers.ts';
import { recordAudit } from '#server/domain/audit/index.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { lockHead, publishGoalState } from '#server/domain/goal-states/index.ts';
import { parse } from '#server/domain/parse.ts';
import { lockVm } from '#server/domain/vms/index.ts';
import { type SetHoldInput, setHoldInput } from './input.ts';

/** Whether the agent is on hold, and the incarnation of the goal state in force. */
export const hold = z.object({ onHold: z.boolean(), incarnation: count });
export type Hold = z.infer<typeof hold>;

/**
 * Puts the stock agent of a VM on hold, or releases it. On hold, it processes nothing and repeats its last report. The
 * agent notices only with a new incarnation, so each change creates one with the same contents; without a change none
 * is created. Throws 404 `vm_unknown` | `wire_access_absent`.
 */
export async function setHold(ctx: Context, input: SetHoldInput): Promise<Hold> {
  allow(ctx.actor, 'operator');
  const { vmId, onHold } = parse(setHoldInput, input);
  return ctx.db.transaction(async (tx) => {
    await lockVm(tx, vmId);
    const [before] = await tx
      .select({ heldAt: stockAgents.heldAt })
      .from(stockAgents)
      .where(eq(stockAgents.vmId, vmId));
    if (before === undefined) throw new DomainError('not_found', 'wire_access_absent');
    const head = await lockHead(tx, vmId);
    if ((before.heldAt !== null) === onHold) return { onHold, incarnation: head.incarnation };
    await tx
      .update(stockAgents)
      .set(onHold ? { heldAt: ctx.now, heldBy: ctx.actor.name } : { heldAt: null, heldBy: null, releasedAt: ctx.now })
      .where(eq(stockAgents.vmId, vmId));
    const act = { action: onHold ? 'wire-access.hold' : 'wire-access.release' } as const;
    const incarnation = await publishGoalState(tx, ctx, head, act);
    await recordAudit(tx, ctx, {
      ...act,
      target: { kind: 'vm', id: vmId },
      vmId,
      before: { onHold: !onHold },
      after: { onHold },
    });
    return { onHold, incarnation };
  });
}
