import { and, asc, eq, lte, sql } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { executions } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import { readHoldPauses } from '#server/domain/holds/index.ts';
import { expiryOf, isOpen } from './execution.ts';
import { dropLaneTimes } from './lane-times.ts';
import { announce, apply, lockExecution, lockWaiting, note } from './rows.ts';

/** Maximum number of executions that one call ends. */
const atOnce = 500;

/**
 * Ends overdue executions: executions that were not delivered in time (`expired`), not counting holds, and delivered
 * executions that sent no result in time (`timed-out`, MU-19, MU-31, MU-34). Returns the number of executions that it
 * ended.
 */
export async function settleDue(ctx: Context): Promise<number> {
  const due = await ctx.db
    .select({ vmId: executions.vmId, id: executions.id })
    .from(executions)
    .where(lte(executions.dueAt, ctx.now))
    .orderBy(asc(executions.dueAt))
    .limit(atOnce);
  let settled = 0;
  for (const { vmId, id } of due) if (await settle(ctx, vmId, id)) settled += 1;
  return settled;
}

function settle(ctx: Context, vmId: string, id: string): Promise<boolean> {
  return ctx.db.transaction(async (tx) => {
    const row = await lockExecution(tx, vmId, id);
    if (row.dueAt === null || row.dueAt > ctx.now) return false;
    const isLate = isOpen(row.state);
    const expiry = isLate ? row.dueAt : expiryOf(row, await readHoldPauses(tx, vmId), ctx.now);
    if (expiry > ctx.now) {
      await note(tx, row, { dueAt: expiry });
      return false;
    }
    const reason = isLate ? 'execution.timed-out' : 'execution.expired';
    const changed = await apply(tx, ctx, row, isLate ? 'time-out' : 'expire', { reason });
    await announce(tx, vmId, 'agent');
    return changed;
  });
}

/**
 * Ends all executions of a VM that is being deleted: waiting executions are canceled, and a delivered execution is
 * lost.
 */
export async function endExecutions(tx: Transaction, ctx: Context, vmId: string): Promise<void> {
  const unfinished = await tx
    .select()
    .from(executions)
    .where(and(eq(executions.vmId, vmId), sql`${executions.dueAt} is not null`))
    .for('update');
  for (const row of unfinished) {
    const isLost = isOpen(row.state);
    await apply(tx, ctx, row, isLost ? 'lose' : 'end', { reason: isLost ? 'execution.lost' : 'execution.cancelled' });
  }
  await dropLaneTimes(tx, vmId);
}

/** Cancels the waiting executions of a VM that is being decommissioned. */
export async function endWaiting(tx: Transaction, ctx: Context, vmId: string): Promise<void> {
  for (const row of await lockWaiting(tx, vmId)) await apply(tx, ctx, row, 'end', { reason: 'execution.cancelled' });
}
