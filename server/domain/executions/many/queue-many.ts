import { and, inArray, sql } from 'drizzle-orm';
import { v7 as uuid } from 'uuid';
import type { Transaction } from '#db/client.ts';
import { type ExecutionApproval, executionStamps, executions } from '#db/schema/index.ts';
import { executionLimits } from '#protocol/executions/index.ts';
import { recordChanges } from '#server/domain/changes/index.ts';
import type { Context } from '#server/domain/context.ts';
import type { ErrorCode } from '#server/domain/error.ts';
import {
  goalStatesChannel,
  type LiveHead,
  lockFreeHeads,
  readLiveHeads,
  storeSecrets,
  takeTurns,
} from '#server/domain/goal-states/index.ts';
import { findPrincipal } from '#server/domain/principal.ts';
import { sha256Hex } from '#server/platform/keys.ts';
import { tell } from '#server/platform/wakes/index.ts';
import { nextStamp } from '../execution.ts';
import { pin } from '../execution-files.ts';
import { secretNameOf } from '../secret-parameters.ts';
import { storePlan } from '../store-plan.ts';
import { type FitMachine, findMachines, refusalOf } from './fit.ts';
import type { RunOrder } from './run-order.ts';

/** What causes many executions, and who is responsible for them. */
export interface RunCause {
  rolloutId: string;
  /** The person who is responsible for the executions, and the one who entered the secrets, as `kind:id`. */
  author: string;
  setBy: string | null;
  approval: ExecutionApproval | null;
}

/** The outcome for a VM's execution. `busy`: someone else is changing the VM, or its queue is full. */
export type QueuedRun =
  | { outcome: 'queued'; executionId: string }
  | { outcome: 'refused'; code: ErrorCode }
  | { outcome: 'busy' }
  | { outcome: 'gone' };

/** A VM whose execution is queued, with its machine. */
interface Fit {
  head: LiveHead;
  machine: FitMachine;
  id: string;
}

/**
 * Queues the order for each of these VMs in the caller's transaction. A VM that cannot run it, or that another
 * transaction is changing, does not affect the others. The number of statements does not depend on the number of VMs.
 */
export async function queueMany(
  tx: Transaction,
  ctx: Context,
  order: RunOrder,
  vmIds: readonly string[],
  cause: RunCause,
): Promise<Map<string, QueuedRun>> {
  const results = new Map<string, QueuedRun>(vmIds.map((vmId) => [vmId, { outcome: 'gone' }]));
  if (vmIds.length === 0) return results;
  const locked = await lockFreeHeads(tx, vmIds);
  const live = await readLiveHeads(tx, vmIds);
  const machineOf = await findMachines(tx, vmIds);
  const full = await fullQueues(tx, vmIds);
  const fit: Fit[] = [];
  for (const head of live) {
    const { vmId } = head;
    const machine = machineOf(vmId);
    const code = refusalOf(order, machine);
    if (!locked.has(vmId)) results.set(vmId, { outcome: 'busy' });
    else if (code !== null) results.set(vmId, { outcome: 'refused', code });
    else if (full.has(vmId)) results.set(vmId, { outcome: 'busy' });
    else fit.push({ head, machine, id: uuid() });
  }
  await insertMany(tx, ctx, order, fit, cause);
  for (const { head, id } of fit) results.set(head.vmId, { outcome: 'queued', executionId: id });
  return results;
}

async function insertMany(
  tx: Transaction,
  ctx: Context,
  order: RunOrder,
  fit: readonly Fit[],
  cause: RunCause,
): Promise<void> {
  if (fit.length === 0) return;
  const vmIds = fit.map(({ head }) => head.vmId);
  const planSha256 = sha256Hex(order.text);
  await storePlan(tx, { sha256: planSha256, text: order.text, createdAt: ctx.now });
  const turns = await takeTurns(
    tx,
    fit.map(({ head }) => head),
  );
  const stamps = await takeStamps(tx, ctx, vmIds);
  const secretIds = await storeSecretsOf(tx, ctx, order, fit, cause);
  const validUntil = new Date(ctx.now.getTime() + order.validForSeconds * 1_000);
  const requestedBy = (await findPrincipal(tx, cause.author, ctx.now))?.key ?? null;
  await tx.insert(executions).values(
    fit.map(({ head: { vmId }, machine, id }, n) => ({
      ...{ vmId, id, planId: id, planSha256, validUntil, dueAt: validUntil, requestedBy },
      ...{ turn: turns.get(vmId) ?? 0, stamp: stamps.get(vmId) ?? 0, machineEnrolledAt: machine.enrolledAt },
      ...{ secretId: secretIds[n] ?? null, secretParameters: Object.keys(order.secrets).sort() },
      ...{ state: 'queued' as const, name: order.plan.name ?? '', version: order.plan.version },
      ...{ runbook: order.runbook, runbookVersion: order.version, timeoutSeconds: order.timeoutSeconds },
      ...{ channel: machine.dialect === null ? ('https' as const) : ('amqp' as const), approval: cause.approval },
      ...{ rolloutId: cause.rolloutId, queuedAt: ctx.now, queuedBy: ctx.actor.name },
    })),
  );
  await pin(
    tx,
    fit.map(({ head: { vmId }, id }) => ({ vmId, executionId: id })),
    order.files,
  );
  await recordChanges(tx, 'execution', vmIds);
  await tell(tx, goalStatesChannel, vmIds);
}

/** Takes the next stamp of each VM. The caller holds the locks of the heads. */
async function takeStamps(
  tx: Transaction,
  { now }: Context,
  vmIds: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const known = await tx
    .select()
    .from(executionStamps)
    .where(inArray(executionStamps.vmId, [...vmIds]));
  const last = new Map(known.map(({ vmId, highest }) => [vmId, highest]));
  const rows = vmIds.map((vmId) => ({ vmId, highest: nextStamp(now, last.get(vmId) ?? 0) }));
  await tx
    .insert(executionStamps)
    .values(rows)
    .onConflictDoUpdate({ target: executionStamps.vmId, set: { highest: sql`excluded.highest` } });
  return new Map(rows.map(({ vmId, highest }) => [vmId, highest]));
}

/** Stores the secret parameters of each execution. Returns the ids of the rows, in the same order. */
async function storeSecretsOf(
  tx: Transaction,
  ctx: Context,
  { secrets: value }: RunOrder,
  fit: readonly Fit[],
  { setBy }: RunCause,
): Promise<string[]> {
  if (Object.keys(value).length === 0) return [];
  const wanted = fit.map(({ head, id }) => ({ head, name: secretNameOf(id), value, schemaDigest: null }));
  return storeSecrets(tx, ctx, setBy, wanted);
}

/** Returns the VMs for which no further execution can wait. */
async function fullQueues(tx: Transaction, vmIds: readonly string[]): Promise<ReadonlySet<string>> {
  const waiting = and(inArray(executions.vmId, [...vmIds]), sql`${executions.state} in ('waiting-approval', 'queued')`);
  const rows = await tx
    .select({ vmId: executions.vmId })
    .from(executions)
    .where(waiting)
    .groupBy(executions.vmId)
    .having(sql`count(*) >= ${executionLimits.waiting}`);
  return new Set(rows.map(({ vmId }) => vmId));
}
