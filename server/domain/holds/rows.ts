import { and, eq } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { agents, holds, type PastHold } from '#db/schema/index.ts';
import { recordAudit } from '#server/domain/audit/index.ts';
import { recordChange } from '#server/domain/changes/index.ts';
import type { Context } from '#server/domain/context.ts';
import { goalStatesChannel, type Head, handOut, publishGoalState, withhold } from '#server/domain/goal-states/index.ts';
import { tell } from '#server/platform/wakes/index.ts';
import type { Hold } from './hold.ts';
import { readHold } from './read-hold.ts';

/** Maximum number of past holds kept per VM. Older holds no longer extend deadlines. */
const maxPast = 50;

/** The terms of a hold. The reason is null only if the caller cannot give a reason. */
export interface HoldTerms {
  reason: string | null;
  until: Date | null;
}

/**
 * Puts a VM on hold, or changes its hold. The caller must have locked the head, which orders all changes to a hold.
 * Returns the current incarnation.
 */
export async function setHoldIn(tx: Transaction, ctx: Context, head: Head, terms: HoldTerms): Promise<number> {
  const { vmId } = head;
  const before = await readHold(tx, vmId);
  const values = { ...terms, by: ctx.actor.name, changedAt: ctx.now };
  const since = before === null ? ctx.now : new Date(before.heldAt);
  await tx
    .insert(holds)
    .values({ vmId, since, ...values })
    .onConflictDoUpdate({ target: holds.vmId, set: { since, ...values } });
  await recordAudit(tx, ctx, {
    action: before === null ? 'hold.set' : 'hold.change',
    target: { kind: 'vm', id: vmId },
    vmId,
    before: before && shown(before),
    after: { reason: terms.reason, until: terms.until?.toISOString() ?? null },
    details: { reason: terms.reason, until: terms.until?.toISOString() ?? null },
  });
  if (before !== null) {
    await recordChange(tx, 'vm', vmId);
    return head.incarnation;
  }
  await withhold(tx, head);
  return announce(tx, ctx, head, 'hold.set');
}

/**
 * Ends the hold of a VM. The caller must have locked the head. `action` says whether a person or the portal ends the
 * hold. Returns the current incarnation.
 */
export async function endHoldIn(
  tx: Transaction,
  ctx: Context,
  head: Head,
  hold: Hold,
  action: 'hold.release' | 'hold.end',
): Promise<number> {
  const { vmId } = head;
  const [row] = await tx.select({ past: holds.past }).from(holds).where(eq(holds.vmId, vmId));
  const ended: PastHold = [hold.heldAt, ctx.now.toISOString()];
  await tx
    .update(holds)
    .set({
      ...{ since: null, reason: null, by: null, until: null, changedAt: ctx.now },
      past: [...(row?.past ?? []), ended].slice(-maxPast),
    })
    .where(eq(holds.vmId, vmId));
  await handOut(tx, vmId);
  await recordAudit(tx, ctx, {
    action,
    target: { kind: 'vm', id: vmId },
    vmId,
    before: shown(hold),
    details: { reason: hold.reason, since: hold.heldAt },
  });
  return announce(tx, ctx, head, 'hold.release');
}

const shown = ({ reason, until }: Hold) => ({ reason, until });

/**
 * Notifies pages and gateways. A stock agent notices a hold only with a new incarnation, so it gets a new incarnation
 * with the same contents.
 */
async function announce(
  tx: Transaction,
  ctx: Context,
  head: Head,
  action: 'hold.set' | 'hold.release',
): Promise<number> {
  const { vmId } = head;
  const [stock] = await tx
    .select({ vmId: agents.vmId })
    .from(agents)
    .where(and(eq(agents.vmId, vmId), eq(agents.kind, 'stock')));
  if (stock !== undefined) return publishGoalState(tx, ctx, head, { action });
  await recordChange(tx, 'vm', vmId);
  await tell(tx, goalStatesChannel, [vmId]);
  return head.incarnation;
}

/** Removes the hold of a deleted VM. */
export async function dropHold(tx: Transaction, vmId: string): Promise<void> {
  await tx.delete(holds).where(eq(holds.vmId, vmId));
}
