import { eq } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { executionPlans } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import { lockHead } from '#server/domain/goal-states/index.ts';
import { readHold, readHoldPauses } from '#server/domain/holds/index.ts';
import { dueAfter, expiryOf } from './execution.ts';
import { filesOf } from './execution-files.ts';
import { fillPlan } from './fill-plan.ts';
import { findPlanMachine } from './plan-machine.ts';
import { announce, apply, type ExecutionRow, lockOpen, lockQueued } from './rows.ts';
import { sealedParameters } from './secret-parameters.ts';

/**
 * Returns the envelope of the execution that the VM's machine should do next, as JSON text; null if there is none or
 * the VM is on hold. The request implies that the machine has no unfinished execution: a delivered execution that was
 * not acknowledged is delivered again, and an acknowledged execution becomes `lost` (MU-36).
 */
export async function handOutNext(ctx: Context, vmId: string): Promise<string | null> {
  return ctx.db.transaction(async (tx) => {
    await lockHead(tx, vmId);
    const open = await lockOpen(tx, vmId);
    // The machine gets the execution that it has over AMQP, so a request here says nothing about it (MU-72).
    if (open?.channel === 'amqp') return null;
    if (open !== undefined && open.receivedAt !== null) {
      await apply(tx, ctx, open, 'lose', { reason: 'execution.lost' });
      await announce(tx, vmId, 'pages');
    }
    if ((await readHold(tx, vmId)) !== null) return null;
    const next = await nextToDeliver(tx, ctx, vmId, open);
    if (next === null || next.row.channel !== 'https') return null;
    const { row, secrets } = next;
    const deliveredAt = row.deliveredAt ?? ctx.now;
    const dueAt = dueAfter(deliveredAt, row.timeoutSeconds);
    await apply(tx, ctx, row, 'hand-out', { handedOut: row.handedOut + 1, deliveredAt, dueAt });
    await announce(tx, vmId, 'pages');
    return envelopeOf(tx, row, secrets);
  });
}

/** An execution, with the properties of the envelope for its secret parameters. */
interface NextExecution {
  row: ExecutionRow;
  secrets: Exclude<Awaited<ReturnType<typeof sealedParameters>>, null>;
}

/** Returns the execution `open` if the machine has not acknowledged it, otherwise the oldest that may begin. */
export async function nextToDeliver(
  tx: Transaction,
  ctx: Context,
  vmId: string,
  open: ExecutionRow | undefined,
): Promise<NextExecution | null> {
  return (await deliveredAgain(tx, ctx, open)) ?? (await firstQueued(tx, ctx, vmId));
}

/** Returns an execution that was delivered but not acknowledged; null if there is none. */
async function deliveredAgain(
  tx: Transaction,
  ctx: Context,
  row: ExecutionRow | undefined,
): Promise<NextExecution | null> {
  return row === undefined || row.receivedAt !== null ? null : withSecrets(tx, ctx, row);
}

/** Adds the secret parameters. Cancels the execution and returns null if the machine cannot decrypt them. */
async function withSecrets(tx: Transaction, ctx: Context, row: ExecutionRow): Promise<NextExecution | null> {
  const secrets = await sealedParameters(tx, row);
  if (secrets !== null) return { row, secrets };
  await apply(tx, ctx, row, 'cancel', { reason: 'execution.needs-secrets' });
  await announce(tx, row.vmId, 'agent');
  return null;
}

/**
 * Returns the oldest execution that this machine may begin. Ends executions that have expired, were queued for a
 * previous machine, or have secret parameters that this machine cannot decrypt.
 */
async function firstQueued(tx: Transaction, ctx: Context, vmId: string): Promise<NextExecution | null> {
  const { enrolledAt } = await findPlanMachine(tx, vmId);
  const holds = await readHoldPauses(tx, vmId);
  for (const row of await lockQueued(tx, vmId)) {
    if (expiryOf(row, holds, ctx.now) <= ctx.now) await apply(tx, ctx, row, 'expire', { reason: 'execution.expired' });
    else if (row.machineEnrolledAt !== null && row.machineEnrolledAt.getTime() !== enrolledAt?.getTime()) {
      await apply(tx, ctx, row, 'end', { reason: 'execution.machine-replaced' });
    } else {
      const next = await withSecrets(tx, ctx, row);
      if (next !== null) return next;
    }
  }
  return null;
}

/** Returns the plan of an execution as JSON text, with `ID` and `Stamp` filled in. */
export async function filledPlanOf(tx: Transaction, row: ExecutionRow): Promise<string> {
  const [stored] = await tx.select().from(executionPlans).where(eq(executionPlans.sha256, row.planSha256));
  if (stored === undefined) throw new Error(`the plan of execution ${row.id} is not stored`);
  return fillPlan(stored.text, { id: row.planId, stamp: row.stamp });
}

async function envelopeOf(tx: Transaction, row: ExecutionRow, secrets: object): Promise<string> {
  const { id, stamp, turn, timeoutSeconds } = row;
  const lead = JSON.stringify({ protocol: 1, id, stamp, turn, timeoutSeconds });
  const end = JSON.stringify({ files: await filesOf(tx, row), ...secrets });
  return `${lead.slice(0, -1)},"plan":${await filledPlanOf(tx, row)},${end.slice(1)}`;
}
