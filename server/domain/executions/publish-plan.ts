import { and, eq, gte, isNull, sql } from 'drizzle-orm';
import { executionChannels, executions } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import { lockHead } from '#server/domain/goal-states/index.ts';
import { readHold } from '#server/domain/holds/index.ts';
import { findChannel } from './channel.ts';
import { withInlineFiles } from './execution-files.ts';
import { deliver, filledPlanOf, nextToDeliver } from './hand-out-next.ts';
import { lockOpen } from './rows.ts';

/** Maximum number of VMs that one pass publishes plans for. */
const atOnce = 500;

/** A plan for the queue of a VM's agent. */
export interface PlanToPublish {
  vmId: string;
  executionId: string;
  planId: string;
  turn: number;
  timeoutSeconds: number;
  inputQueue: string;
  dialect: 'annex' | 'murano';
  /** The plan's JSON, with `ID` and `Stamp` filled in, and with its files of BodyType `ID` in base64. */
  text: string;
  /** The secret parameters, encrypted for the machine, as in the envelope of an execution; empty without secrets. */
  secrets: { protectedParameters?: string; protectedParametersCertThumbprint?: string };
  /** When the broker should discard the plan. */
  expiresAt: Date;
}

/** Returns VMs for which a plan may have to be published. */
export async function listUnpublished(ctx: Pick<Context, 'db'>): Promise<string[]> {
  const rows = await ctx.db
    .selectDistinct({ vmId: executions.vmId })
    .from(executions)
    .where(
      and(
        eq(executions.channel, 'amqp'),
        sql`${executions.state} in ('queued', 'delivered')`,
        isNull(executions.publishedAt),
        // The next plan waits until the machine has answered its current plan.
        sql`not exists (select from ${executions} o where o.vm_id = ${executions.vmId}
              and o.state in ('delivered', 'running', 'restarting') and o.published_at is not null)`,
      ),
    )
    .limit(atOnce);
  return rows.map(({ vmId }) => vmId);
}

/** Returns the input queues of the VMs that were bound to AMQP since `since`, or of all bound VMs if it is null. */
export async function listInputQueues(ctx: Pick<Context, 'db'>, since: Date | null): Promise<string[]> {
  const rows = await ctx.db
    .select({ inputQueue: executionChannels.inputQueue })
    .from(executionChannels)
    .where(since === null ? undefined : gte(executionChannels.boundAt, since));
  return rows.map(({ inputQueue }) => inputQueue);
}

/**
 * Marks a VM's next execution as delivered, and returns its plan for the broker; null if there is nothing to publish.
 * While the VM is on hold, no queued plan is published. A plan that the broker has not confirmed is returned again
 * (MU-62).
 */
export async function publishNext(ctx: Context, vmId: string): Promise<PlanToPublish | null> {
  return ctx.db.transaction(async (tx) => {
    await lockHead(tx, vmId);
    const channel = await findChannel(tx, vmId);
    if (channel === null) return null;
    const open = await lockOpen(tx, vmId);
    if (open !== undefined && (open.channel !== 'amqp' || open.publishedAt !== null)) return null;
    if (open === undefined && (await readHold(tx, vmId)) !== null) return null;
    const next = await nextToDeliver(tx, ctx, vmId, open);
    if (next === null || next.row.channel !== 'amqp') return null;
    const { row, secrets } = next;
    const dueAt = await deliver(tx, ctx, row);
    const { id: executionId, planId, turn, timeoutSeconds, validUntil } = row;
    const { inputQueue, dialect } = channel;
    return {
      ...{ vmId, executionId, planId, turn, timeoutSeconds, inputQueue, dialect },
      ...{ text: await withInlineFiles(tx, ctx, row, await filledPlanOf(tx, row)), secrets },
      // A machine must not begin a plan that the portal no longer waits for.
      expiresAt: new Date(Math.min(validUntil.getTime(), dueAt.getTime())),
    };
  });
}

/** Records that the broker has the plan. */
export async function notePublished(ctx: Context, { vmId, executionId }: PlanToPublish): Promise<void> {
  await ctx.db
    .update(executions)
    .set({ publishedAt: ctx.now })
    .where(and(eq(executions.vmId, vmId), eq(executions.id, executionId)));
}
