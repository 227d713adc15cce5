import type { Transaction } from '#db/client.ts';
import { allow } from '#server/domain/actor.ts';
import { recordAudit } from '#server/domain/audit/index.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { lockHead } from '#server/domain/goal-states/index.ts';
import { parse } from '#server/domain/parse.ts';
import { isFinal, isOpen } from './execution.ts';
import {
  type CancelExecutionInput,
  type CancelWaitingInput,
  cancelExecutionInput,
  cancelWaitingInput,
} from './input.ts';
import { findPlanMachine } from './plan-machine.ts';
import { announce, apply, lockExecution, lockWaiting, note } from './rows.ts';

/**
 * Cancels an execution. A waiting execution ends immediately. A delivered execution is ended later by its agent, so
 * `isEnded` is false. Throws 404 `vm_unknown` | `execution_unknown`, 409 `execution_concluded`, 409
 * `cancel_unreachable` if the machine has the plan and can be reached only over AMQP.
 */
export async function cancelExecution(ctx: Context, input: CancelExecutionInput): Promise<{ isEnded: boolean }> {
  allow(ctx.actor, 'operator');
  const { vmId, executionId, reason } = parse(cancelExecutionInput, input);
  return ctx.db.transaction(async (tx) => {
    // The lock keeps the execution from being delivered while it is canceled.
    await lockHead(tx, vmId);
    const row = await lockExecution(tx, vmId, executionId);
    if (isFinal(row.state)) throw new DomainError('conflict', 'execution_concluded');
    const asked = { cancelAskedAt: row.cancelAskedAt ?? ctx.now, cancelAskedBy: row.cancelAskedBy ?? ctx.actor.name };
    const isEnded = !isOpen(row.state);
    if (!isEnded && row.channel === 'amqp') await requireReachable(tx, vmId);
    if (isEnded) await apply(tx, ctx, row, 'cancel', { ...asked, reason: 'execution.cancelled' });
    else await note(tx, row, asked);
    if (row.cancelAskedAt === null) {
      await recordAudit(tx, ctx, {
        action: 'execution.cancel',
        target: { kind: 'execution', id: row.id },
        vmId,
        details: { name: row.name, reason: reason ?? null },
      });
    }
    await announce(tx, vmId, 'agent');
    return { isEnded };
  });
}

/** AMQP has no message that ends a plan. An agent that also polls the portal sees the cancellation there. */
async function requireReachable(tx: Transaction, vmId: string): Promise<void> {
  const { kind } = await findPlanMachine(tx, vmId);
  if (kind !== 'reference') throw new DomainError('conflict', 'cancel_unreachable');
}

/** Cancels all waiting executions of a VM and returns their number. Throws 404 `vm_unknown`. */
export async function cancelWaiting(ctx: Context, input: CancelWaitingInput): Promise<number> {
  allow(ctx.actor, 'operator');
  const { vmId } = parse(cancelWaitingInput, input);
  return ctx.db.transaction(async (tx) => {
    await lockHead(tx, vmId);
    const waiting = await lockWaiting(tx, vmId);
    if (waiting.length === 0) return 0;
    const asked = { cancelAskedAt: ctx.now, cancelAskedBy: ctx.actor.name, reason: 'execution.cancelled' };
    for (const row of waiting) await apply(tx, ctx, row, 'cancel', asked);
    await recordAudit(tx, ctx, {
      action: 'execution.cancel-waiting',
      target: { kind: 'vm', id: vmId },
      vmId,
      details: { count: waiting.length },
    });
    await announce(tx, vmId, 'agent');
    return waiting.length;
  });
}
