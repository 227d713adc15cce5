import type { Context } from '#server/domain/context.ts';
import { listInputQueues, listUnpublished, notePublished, publishNext } from '#server/domain/executions/index.ts';
import type { Broker } from './broker.ts';
import { messageOf } from './dialect.ts';

/**
 * Publishes plans of VMs that use AMQP until none is left that can be published. `contextNow` returns a context with
 * the current time.
 */
export async function publishWaiting(contextNow: () => Context, broker: Broker): Promise<void> {
  for (;;) {
    const vmIds = await listUnpublished(contextNow());
    let published = 0;
    for (const vmId of vmIds) if (await publishPlan(contextNow, broker, vmId)) published += 1;
    if (published === 0) return;
  }
}

async function publishPlan(contextNow: () => Context, broker: Broker, vmId: string): Promise<boolean> {
  const ctx = contextNow();
  const plan = await publishNext(ctx, vmId);
  if (plan === null) return false;
  const message = messageOf(plan, { results: ctx.config.amqp.results, now: ctx.now });
  if ((await broker.publish(message)) === 'returned') {
    // The Murano agent does not declare its queue. Someone may also have deleted the queue.
    await broker.declare(plan.inputQueue);
    if ((await broker.publish(message)) === 'returned') throw new Error(`the queue of VM ${vmId} cannot be declared`);
  }
  await notePublished(contextNow(), plan);
  return true;
}

/** Declares the queues of the VMs that were bound to AMQP at or after `since`; if it is null, of all bound VMs. */
export async function declareQueues(ctx: Context, broker: Broker, since: Date | null): Promise<void> {
  for (const queue of await listInputQueues(ctx, since)) await broker.declare(queue);
}
