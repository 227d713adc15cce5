import { eq } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { executionPlans } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import { lockHead } from '#server/domain/goal-states/index.ts';
import { readHold, readHoldPauses } from '#server/domain/holds/index.ts';
import { writeChange } from './change-execution.ts';
import { after, dueAfter, type ExecutionEvent, expiryOf, isOpen } from './execution.ts';
import { filesOf, shownFiles } from './execution-files.ts';
import { fillPlan } from './fill-plan.ts';
import { findNext, type NextExecution } from './next-execution.ts';
import { findPlanMachine } from './plan-machine.ts';
import { announce, apply, type ExecutionRow, lockOpen, lockQueued } from './rows.ts';
import { sealedParameters } from './secret-parameters.ts';

/**
 * Returns the envelope of the execution that the VM's machine should run next, as JSON text; null if there is none or
 * the VM is on hold. The request implies that the machine has no unfinished execution: a delivered execution that was
 * not acknowledged is delivered again, and an acknowledged execution becomes `lost` (MU-36).
 */
export async function handOutNext(ctx: Context, vmId: string): Promise<string | null> {
  const next = await findNext(ctx, vmId);
  if (next === null) return null;
  const { row, planText, files } = next;
  const state = isPlain(next, ctx.now) ? after(row.state, 'hand-out') : null;
  if (state === null) return handOutCarefully(ctx, vmId);
  const change = { values: { state, ...delivery(row, ctx.now) }, isHandOut: true };
  if (!(await writeChange(ctx, next, change))) return handOutCarefully(ctx, vmId);
  return envelopeOf(row, { plan: filledPlan(row, planText), files: shownFiles(row, files) });
}

/** Whether an execution has no secrets and can be delivered without changing another execution. */
function isPlain({ row, isHeld, enrolledAt, holds }: NextExecution, now: Date): boolean {
  const isFirst = row.state === 'queued' && endOfWaiting(row, { enrolledAt, holds }, now) === null;
  const isAgain = isOpen(row.state) && row.receivedAt === null;
  return row.channel === 'https' && row.secretId === null && !isHeld && (isFirst || isAgain);
}

/** Returns the columns to set when an execution is delivered. */
function delivery(row: ExecutionRow, now: Date) {
  const deliveredAt = row.deliveredAt ?? now;
  return { handedOut: row.handedOut + 1, deliveredAt, dueAt: dueAfter(deliveredAt, row.timeoutSeconds) };
}

async function handOutCarefully(ctx: Context, vmId: string): Promise<string | null> {
  return ctx.db.transaction(async (tx) => {
    await lockHead(tx, vmId);
    const open = await lockOpen(tx, vmId);
    // The open execution was sent over AMQP, so a request over HTTPS says nothing about it (MU-72).
    if (open?.channel === 'amqp') return null;
    if (open !== undefined && open.receivedAt !== null) {
      await apply(tx, ctx, open, 'lose', { reason: 'execution.lost' });
      await announce(tx, vmId, 'pages');
    }
    if ((await readHold(tx, vmId)) !== null) return null;
    const next = await nextToDeliver(tx, ctx, vmId, open);
    if (next === null || next.row.channel !== 'https') return null;
    const { row, secrets } = next;
    await deliver(tx, ctx, row);
    return envelopeOf(row, { plan: await filledPlanOf(tx, row), files: await filesOf(tx, row), ...secrets });
  });
}

/** Marks an execution as delivered. Returns the time at which the portal ends it if no result arrives. */
export async function deliver(tx: Transaction, ctx: Context, row: ExecutionRow): Promise<Date> {
  const values = delivery(row, ctx.now);
  await apply(tx, ctx, row, 'hand-out', values);
  await announce(tx, row.vmId, 'pages');
  return values.dueAt;
}

/** An execution, with the properties of the envelope for its secret parameters. */
interface Deliverable {
  row: ExecutionRow;
  secrets: Exclude<Awaited<ReturnType<typeof sealedParameters>>, null>;
}

/**
 * Returns the execution `open` if the machine has not acknowledged it, otherwise the oldest execution that may begin;
 * null if there is none.
 */
export async function nextToDeliver(
  tx: Transaction,
  ctx: Context,
  vmId: string,
  open: ExecutionRow | undefined,
): Promise<Deliverable | null> {
  return (await deliveredAgain(tx, ctx, open)) ?? (await firstQueued(tx, ctx, vmId));
}

/** Returns the delivered execution to send again; null if it was acknowledged or its secrets cannot be decrypted. */
async function deliveredAgain(
  tx: Transaction,
  ctx: Context,
  row: ExecutionRow | undefined,
): Promise<Deliverable | null> {
  return row === undefined || row.receivedAt !== null ? null : withSecrets(tx, ctx, row);
}

/** Adds the secret parameters. Cancels the execution and returns null if the machine cannot decrypt them. */
async function withSecrets(tx: Transaction, ctx: Context, row: ExecutionRow): Promise<Deliverable | null> {
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
async function firstQueued(tx: Transaction, ctx: Context, vmId: string): Promise<Deliverable | null> {
  const { enrolledAt } = await findPlanMachine(tx, vmId);
  const holds = await readHoldPauses(tx, vmId);
  for (const row of await lockQueued(tx, vmId)) {
    const end = endOfWaiting(row, { enrolledAt, holds }, ctx.now);
    if (end !== null) await apply(tx, ctx, row, end.event, { reason: end.reason });
    else {
      const next = await withSecrets(tx, ctx, row);
      if (next !== null) return next;
    }
  }
  return null;
}

/** Returns how a waiting execution ends if it may no longer begin; null if it may begin. */
function endOfWaiting(
  row: ExecutionRow,
  { enrolledAt, holds }: Pick<NextExecution, 'enrolledAt' | 'holds'>,
  now: Date,
): { event: ExecutionEvent; reason: string } | null {
  if (expiryOf(row, holds, now) <= now) return { event: 'expire', reason: 'execution.expired' };
  const isForAnother = row.machineEnrolledAt !== null && row.machineEnrolledAt.getTime() !== enrolledAt?.getTime();
  return isForAnother ? { event: 'end', reason: 'execution.machine-replaced' } : null;
}

/** Returns the plan of an execution as JSON text, with `ID` and `Stamp` filled in. */
export async function filledPlanOf(tx: Transaction, row: ExecutionRow): Promise<string> {
  const [stored] = await tx.select().from(executionPlans).where(eq(executionPlans.sha256, row.planSha256));
  if (stored === undefined) throw new Error(`the plan of execution ${row.id} is not stored`);
  return filledPlan(row, stored.text);
}

const filledPlan = ({ planId, stamp }: ExecutionRow, text: string): string => fillPlan(text, { id: planId, stamp });

/** Returns the envelope as JSON text. `plan` is JSON text. */
function envelopeOf(row: ExecutionRow, { plan, ...others }: { plan: string; files: object }): string {
  const { id, stamp, turn, timeoutSeconds } = row;
  const lead = JSON.stringify({ protocol: 1, id, stamp, turn, timeoutSeconds });
  return `${lead.slice(0, -1)},"plan":${plan},${JSON.stringify(others).slice(1)}`;
}
