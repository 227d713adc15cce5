import { eq } from 'drizzle-orm';
import { z } from 'zod';
import type { Database, Transaction } from '#db/client.ts';
import { executionChannels, executions } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import { time } from '#server/domain/answers.ts';
import { recordAudit } from '#server/domain/audit/index.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { lockHead } from '#server/domain/goal-states/index.ts';
import { parse } from '#server/domain/parse.ts';
import { type BindChannelInput, bindChannelInput, type GetChannelInput, getChannelInput } from './input.ts';
import { announce, ofVmUnfinished } from './rows.ts';

/** The channel over which a VM's agent gets its executions. */
export const executionChannel = z.object({
  inputQueue: z.string().describe('The queue from which the agent takes plans.'),
  dialect: z.enum(['annex', 'murano']).describe('`annex` for Annex’s own agent, `murano` for the Murano agent.'),
  boundAt: time,
  boundBy: z.string(),
});
export type ExecutionChannel = z.infer<typeof executionChannel>;

type ChannelRow = typeof executionChannels.$inferSelect;

/** Returns the AMQP channel of a VM; null if the VM's agent fetches its executions over HTTPS. */
export async function findChannel(db: Database | Transaction, vmId: string): Promise<ChannelRow | null> {
  const [row] = await db.select().from(executionChannels).where(eq(executionChannels.vmId, vmId));
  return row ?? null;
}

/** Returns the AMQP channel of a VM, for viewers. Throws 404 `channel_unbound`. */
export async function getChannel(ctx: Context, input: GetChannelInput): Promise<ExecutionChannel> {
  const channel = await readChannel(ctx, input);
  if (channel === null) throw new DomainError('not_found', 'channel_unbound');
  return channel;
}

/** Returns the AMQP channel of a VM, for viewers; null if the VM's agent fetches its executions over HTTPS. */
export async function readChannel(ctx: Context, input: GetChannelInput): Promise<ExecutionChannel | null> {
  allow(ctx.actor, 'viewer');
  const row = await findChannel(ctx.db, parse(getChannelInput, input).vmId);
  return row === null ? null : shown(row);
}

/**
 * Binds a VM to AMQP, for admins: from now on, its executions are sent to a queue of the broker. Without `inputQueue`,
 * a VM that is already bound keeps its queue; otherwise, the name of the queue is formed from the id of the VM. Throws
 * 404 `vm_unknown`, 409 `channel_busy` if executions wait or run, and 409 `input_queue_taken`.
 */
export async function bindChannel(ctx: Context, input: BindChannelInput): Promise<ExecutionChannel> {
  allow(ctx.actor, 'admin');
  const { vmId, dialect, ...given } = parse(bindChannelInput, input);
  return ctx.db.transaction(async (tx) => {
    await lockHead(tx, vmId);
    const known = await findChannel(tx, vmId);
    const inputQueue = given.inputQueue ?? known?.inputQueue ?? `${ctx.config.amqp.queuePrefix}${vmId}`;
    if (known?.inputQueue === inputQueue && known.dialect === dialect) return shown(known);
    await requireIdle(tx, vmId);
    const values = { inputQueue, dialect, boundAt: ctx.now, boundBy: ctx.actor.name };
    const [row] = await tx
      .insert(executionChannels)
      .values({ vmId, ...values })
      .onConflictDoUpdate({ target: executionChannels.vmId, set: values })
      .returning()
      .catch((error: unknown) => {
        if (isTaken(error)) throw new DomainError('conflict', 'input_queue_taken');
        throw error;
      });
    if (row === undefined) throw new Error('a channel was neither inserted nor updated');
    await record(tx, ctx, vmId, 'execution-channel.bind', { inputQueue, dialect });
    return shown(row);
  });
}

/** Unbinds a VM from AMQP, for admins. Throws 404 `vm_unknown` | `channel_unbound`, and 409 `channel_busy`. */
export async function unbindChannel(ctx: Context, input: GetChannelInput): Promise<void> {
  allow(ctx.actor, 'admin');
  const { vmId } = parse(getChannelInput, input);
  await ctx.db.transaction(async (tx) => {
    await lockHead(tx, vmId);
    await requireIdle(tx, vmId);
    const [row] = await tx.delete(executionChannels).where(eq(executionChannels.vmId, vmId)).returning();
    if (row === undefined) throw new DomainError('not_found', 'channel_unbound');
    await record(tx, ctx, vmId, 'execution-channel.unbind', { inputQueue: row.inputQueue, dialect: row.dialect });
  });
}

/** Deletes the channel of a VM that is being deleted. */
export async function dropChannel(tx: Transaction, vmId: string): Promise<void> {
  await tx.delete(executionChannels).where(eq(executionChannels.vmId, vmId));
}

/**
 * Throws 409 `channel_busy` if the VM has executions that have not ended, because an execution keeps its channel until
 * it ends.
 */
async function requireIdle(tx: Transaction, vmId: string): Promise<void> {
  if ((await tx.$count(executions, ofVmUnfinished(vmId))) > 0) throw new DomainError('conflict', 'channel_busy');
}

async function record(
  tx: Transaction,
  ctx: Context,
  vmId: string,
  action: 'execution-channel.bind' | 'execution-channel.unbind',
  details: { inputQueue: string; dialect: string },
): Promise<void> {
  await recordAudit(tx, ctx, { action, target: { kind: 'vm', id: vmId }, vmId, details });
  await announce(tx, vmId, 'agent');
}

const shown = ({ inputQueue, dialect, boundAt, boundBy }: ChannelRow): ExecutionChannel => ({
  ...{ inputQueue, dialect, boundBy },
  boundAt: boundAt.toISOString(),
});

/** Whether PostgreSQL rejected a row because another VM uses the queue. */
function isTaken(error: unknown): boolean {
  const { cause } = error as { cause?: { constraint?: unknown } };
  return cause?.constraint === 'execution_channels_input_queue';
}
