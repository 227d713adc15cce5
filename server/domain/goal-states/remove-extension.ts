import { and, eq } from 'drizzle-orm';
import { z } from 'zod';
import type { Transaction } from '#db/client.ts';
import { extensions } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import { count } from '#server/domain/answers.ts';
import { recordAudit } from '#server/domain/audit/index.ts';
import type { Context } from '#server/domain/context.ts';
import { parse } from '#server/domain/parse.ts';
import { vmId } from '#server/domain/vms/input.ts';
import { uninstallCommands, withPending } from './commands-for.ts';
import { evaluateVm } from './evaluate.ts';
import { type PlanRemovalInput, planRemovalInput, type RemoveExtensionInput, removeExtensionInput } from './input.ts';
import { type Plan, planIn, requirePlan } from './plan.ts';
import { type ExtensionRow, lockHead, publishGoalState, requireIncarnation } from './publish.ts';
import { nextSequenceNumber } from './sequence.ts';
import { shownExtension } from './shown-extension.ts';

/** Result of a removal: requested, or completed without the agent. */
export const removalReceipt = z.object({
  vmId,
  name: z.string(),
  state: z.enum(['uninstall', 'removed']),
  sequenceNumber: count,
  incarnation: count,
});
export type RemovalReceipt = z.infer<typeof removalReceipt>;

/**
 * Requests the uninstall of an extension. The extension leaves the goal state when the agent reports the removal, or
 * immediately if `force` is set or the extension was never delivered. Throws 404 `vm_unknown` | `extension_absent`, 409
 * `extension_needed` if other extensions depend on it, 412 `goal_state_moved_on` | `plan_moved_on`.
 */
export async function removeExtension(ctx: Context, input: RemoveExtensionInput): Promise<RemovalReceipt> {
  allow(ctx.actor, 'operator');
  const { vmId, name, force, ifMatch, plan } = parse(removeExtensionInput, input);
  return ctx.db.transaction(async (tx) => {
    const head = await lockHead(tx, vmId);
    requireIncarnation(head, ifMatch);
    const evaluation = await evaluateVm(tx, ctx, head, { kind: 'remove', name, force });
    requirePlan(ctx, head, force ? 'force' : 'remove', evaluation, plan);
    const [move] = evaluation.moves;
    if (!move?.current) throw new Error('a removal needs an extension');
    const { current, after, effect, sequenceNumber } = move;
    const removal = { vmId, name, state: after ? ('uninstall' as const) : ('removed' as const), sequenceNumber };
    if (effect === 'none') return { ...removal, incarnation: head.incarnation };
    if (after) await markUninstall(tx, ctx, current);
    else await dropExtension(tx, vmId, name);
    await recordAudit(tx, ctx, {
      action: force ? 'extension.remove-by-force' : 'extension.remove',
      target: { kind: 'extension', id: name },
      vmId,
      before: shownExtension(current),
      after: after && shownExtension(after),
      details: { handler: current.handler, version: current.version, withoutAgent: after === null },
    });
    const incarnation = await publishGoalState(tx, ctx, head, { action: 'extension.remove', extension: name });
    return { ...removal, incarnation };
  });
}

/** Plans `removeExtension` with the same input, without writing. Throws the same 404 and 409 errors. */
export async function planRemoval(ctx: Context, input: PlanRemovalInput): Promise<Plan> {
  allow(ctx.actor, 'operator');
  const { vmId, name, force } = parse(planRemovalInput, input);
  return planIn(ctx, vmId, force ? 'force' : 'remove', (tx, head) =>
    evaluateVm(tx, ctx, head, { kind: 'remove', name, force }),
  );
}

/** Sets an extension's goal to `uninstall`, with a new sequence number and without dependencies. Returns the number. */
export async function markUninstall(tx: Transaction, ctx: Context, row: ExtensionRow): Promise<number> {
  const sequenceNumber = await nextSequenceNumber(tx, row.vmId, row.name);
  await tx
    .update(extensions)
    .set({
      state: 'uninstall',
      dependsOn: [],
      sequenceNumber,
      commands: await withPending(tx, row, uninstallCommands),
      changedAt: ctx.now,
      changedBy: ctx.actor.name,
      deliveredAt: null,
    })
    .where(and(eq(extensions.vmId, row.vmId), eq(extensions.name, row.name)));
  return sequenceNumber;
}

/** Removes the declaration of an extension. */
export async function dropExtension(tx: Transaction, vmId: string, name: string): Promise<void> {
  await tx.delete(extensions).where(and(eq(extensions.vmId, vmId), eq(extensions.name, name)));
}
