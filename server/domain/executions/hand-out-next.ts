import { eq } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { executionPlans } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import { lockHead } from '#server/domain/goal-states/index.ts';
import { readHold } from '#server/domain/holds/index.ts';
import { dueAfter } from './execution.ts';
import { fillPlan } from './fill-plan.ts';
import { findPlanMachine } from './judge-plan.ts';
import { announce, apply, type ExecutionRow, lockOpen, lockQueued } from './rows.ts';

/**
 * Returns the envelope of the execution that the VM's machine should do next, as JSON text; null if there is none or
 * the VM is on hold. The request implies that the machine has no unfinished execution: a delivered execution that was
 * not acknowledged is delivered again, and an acknowledged execution becomes `lost` (MU-36).
 */
export async function handOutNext(ctx: Context, vmId: string): Promise<string | null> {
  return ctx.db.transaction(async (tx) => {
    await lockHead(tx, vmId);
    const open = await lockOpen(tx, vmId);
    if (open !== undefined && open.receivedAt !== null) {
      await apply(tx, ctx, open, 'lose', { reason: 'execution.lost' });
      await announce(tx, vmId, 'pages');
    }
    if ((await readHold(tx, vmId)) !== null) return null;
    const next = open !== undefined && open.receivedAt === null ? open : await firstQueued(tx, ctx, vmId);
    if (next === null || next.channel !== 'https') return null;
    const handedOut = next.handedOut + 1;
    await apply(tx, ctx, next, 'hand-out', {
      handedOut,
      deliveredAt: next.deliveredAt ?? ctx.now,
      dueAt: dueAfter(next.deliveredAt ?? ctx.now, next.timeoutSeconds),
    });
    await announce(tx, vmId, 'pages');
    return envelopeOf(tx, next);
  });
}

/**
 * Returns the oldest execution that this machine may begin. Ends executions that have expired or were queued for a
 * previous machine.
 */
async function firstQueued(tx: Transaction, ctx: Context, vmId: string): Promise<ExecutionRow | null> {
  const { enrolledAt } = await findPlanMachine(tx, vmId);
  for (const row of await lockQueued(tx, vmId)) {
    if (row.validUntil <= ctx.now) await apply(tx, ctx, row, 'expire', { reason: 'execution.expired' });
    else if (row.machineEnrolledAt !== null && row.machineEnrolledAt.getTime() !== enrolledAt?.getTime()) {
      await apply(tx, ctx, row, 'end', { reason: 'execution.machine-replaced' });
    } else return row;
  }
  return null;
}

async function envelopeOf(tx: Transaction, row: ExecutionRow): Promise<string> {
  const [stored] = await tx.select().from(executionPlans).where(eq(executionPlans.sha256, row.planSha256));
  if (stored === undefined) throw new Error(`the plan of execution ${row.id} is not stored`);
  const { id, stamp, turn, timeoutSeconds } = row;
  const plan = fillPlan(stored.text, { id: row.planId, stamp });
  const lead = JSON.stringify({ protocol: 1, id, stamp, turn, timeoutSeconds });
  return `${lead.slice(0, -1)},"plan":${plan},"files":{}}`;
}
