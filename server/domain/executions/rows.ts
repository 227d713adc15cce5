import { and, asc, eq, inArray, sql } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { executions } from '#db/schema/index.ts';
import { openStates } from '#protocol/executions/index.ts';
import { recordChange } from '#server/domain/changes/index.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { deleteSecret, goalStatesChannel } from '#server/domain/goal-states/index.ts';
import { tell } from '#server/platform/wakes/index.ts';
import { after, type ExecutionEvent, type ExecutionState, isFinal, isOpen } from './execution.ts';
import { noteLaneFree } from './lane-times.ts';

export type ExecutionRow = typeof executions.$inferSelect;
/** An execution without its result, which can be up to 16 MiB in size. */
export type ShownRow = Omit<ExecutionRow, 'result'>;

/** The condition for one execution. */
export const only = (vmId: string, id: string) => and(eq(executions.vmId, vmId), eq(executions.id, id));

/** Returns an execution, locked until the commit. Throws 404 `execution_unknown`. */
export async function lockExecution(tx: Transaction, vmId: string, id: string): Promise<ExecutionRow> {
  const [row] = await tx.select().from(executions).where(only(vmId, id)).for('update');
  if (row === undefined) throw new DomainError('not_found', 'execution_unknown');
  return row;
}

/** Returns the execution that the VM's machine has, if any, locked until the commit. */
export async function lockOpen(tx: Transaction, vmId: string): Promise<ExecutionRow | undefined> {
  const [row] = await tx
    .select()
    .from(executions)
    .where(and(eq(executions.vmId, vmId), inArray(executions.state, [...openStates])))
    .for('update');
  return row;
}

/** Returns the executions of a VM that wait for approval or for the machine, locked until the commit. */
export function lockWaiting(tx: Transaction, vmId: string): Promise<ExecutionRow[]> {
  return tx
    .select()
    .from(executions)
    .where(and(eq(executions.vmId, vmId), inArray(executions.state, ['waiting-approval', 'queued'])))
    .orderBy(asc(executions.turn))
    .for('update');
}

/** Returns the approved executions of a VM that wait, in the order of their turns, locked until the commit. */
export function lockQueued(tx: Transaction, vmId: string): Promise<ExecutionRow[]> {
  return tx
    .select()
    .from(executions)
    .where(and(eq(executions.vmId, vmId), eq(executions.state, 'queued')))
    .orderBy(asc(executions.turn))
    .for('update');
}

/** The condition for the executions of a VM that have not ended. */
export const ofVmUnfinished = (vmId: string) =>
  and(
    eq(executions.vmId, vmId),
    sql`${executions.state} in ('waiting-approval', 'queued', 'delivered', 'running', 'restarting')`,
  );

/**
 * Applies an event to an execution and sets further columns. Writes nothing if the event does not apply in the
 * execution's state. Deletes the secret parameters of an execution that ends. Returns whether the execution changed.
 */
export async function apply(
  tx: Transaction,
  ctx: Pick<Context, 'now'>,
  row: ExecutionRow,
  event: ExecutionEvent,
  values: Partial<ExecutionRow> = {},
): Promise<boolean> {
  const state = after(row.state, event);
  if (state === null) return false;
  if (isFinal(state) && row.secretId !== null) await deleteSecret(tx, row.vmId, row.secretId);
  await tx
    .update(executions)
    .set({ ...values, ...endedAs(state, ctx.now) })
    .where(only(row.vmId, row.id));
  if (isFinal(state) && isOpen(row.state)) await noteLaneFree(tx, ctx, row.vmId);
  return true;
}

/** Returns the columns that an execution has when it ends in this state, or just the state if it is not final. */
export const endedAs = (state: ExecutionState, now: Date) =>
  isFinal(state) ? { state, concludedAt: now, dueAt: null, secretId: null } : { state };

/** Sets columns of an execution without changing its state. */
export async function note(tx: Transaction, row: ExecutionRow, values: Partial<ExecutionRow>): Promise<void> {
  await tx.update(executions).set(values).where(only(row.vmId, row.id));
}

/** Notifies pages that the executions of a VM changed; with `agent`, notifies the gateways too. */
export async function announce(tx: Transaction, vmId: string, whom: 'pages' | 'agent'): Promise<void> {
  await recordChange(tx, 'execution', vmId);
  if (whom === 'agent') await tell(tx, goalStatesChannel, [vmId]);
}

/** Returns the number of a VM's waiting executions. */
export function countWaiting(tx: Transaction, vmId: string): Promise<number> {
  return tx.$count(
    executions,
    and(eq(executions.vmId, vmId), sql`${executions.state} in ('waiting-approval', 'queued')`),
  );
}
