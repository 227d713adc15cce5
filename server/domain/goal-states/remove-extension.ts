import { and, eq } from 'drizzle-orm';
import { z } from 'zod';
import type { Transaction } from '#db/client.ts';
import { extensions } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import { count } from '#server/domain/answers.ts';
import { recordAudit } from '#server/domain/audit/index.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { parse } from '#server/domain/parse.ts';
import { vmId } from '#server/domain/vms/input.ts';
import { withPending } from './commands-for.ts';
import type { Declared } from './declare.ts';
import { type Evaluation, type ExtensionMove, nextSequences } from './evaluate.ts';
import { type PlanRemovalInput, planRemovalInput, type RemoveExtensionInput, removeExtensionInput } from './input.ts';
import { type Plan, planIn, requirePlan } from './plan.ts';
import {
  contentsOf,
  type ExtensionRow,
  type Head,
  loadExtensions,
  lockHead,
  publishGoalState,
  requireIncarnation,
} from './publish.ts';
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
 * immediately with `force` or if it was never delivered. Throws 404 `vm_unknown` | `extension_absent`, 409
 * `extension_needed` if other extensions depend on it, 412 `goal_state_moved_on` | `plan_moved_on`.
 */
export async function removeExtension(ctx: Context, input: RemoveExtensionInput): Promise<RemovalReceipt> {
  allow(ctx.actor, 'operator');
  const { vmId, name, force, ifMatch, plan } = parse(removeExtensionInput, input);
  return ctx.db.transaction(async (tx) => {
    const head = await lockHead(tx, vmId);
    requireIncarnation(head, ifMatch);
    const evaluation = await evaluateRemoval(tx, head, name, force);
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
  return planIn(ctx, vmId, force ? 'force' : 'remove', (tx, head) => evaluateRemoval(tx, head, name, force));
}

async function evaluateRemoval(tx: Transaction, head: Head, name: string, force: boolean): Promise<Evaluation> {
  const present = await loadExtensions(tx, head.vmId);
  const current = present.find((row) => row.name === name);
  if (!current) throw new DomainError('not_found', 'extension_absent');
  const dependants = present.filter((row) => row.state !== 'uninstall' && row.dependsOn.includes(name));
  if (dependants.length > 0) {
    const names = dependants.map((row) => row.name).join(', ');
    throw new DomainError('conflict', 'extension_needed', { params: { name, dependants: names } });
  }
  const next = await nextSequences(tx, head.vmId, [name]);
  return { present, moves: [removalMove(current, next, force || !current.everDelivered)], faults: [] };
}

function declaredOf(row: ExtensionRow): Declared {
  const { sequenceNumber: _, ...declared } = contentsOf(row);
  return declared;
}

/** Returns the change that removes an extension: with an uninstall by the agent or, with `drop`, without the agent. */
export function removalMove(current: ExtensionRow, next: ReadonlyMap<string, number>, drop: boolean): ExtensionMove {
  const isLeaving = current.state === 'uninstall';
  return {
    name: current.name,
    current,
    after: drop ? null : { ...declaredOf(current), state: 'uninstall', dependsOn: [] },
    secret: current.secretId === null ? 'none' : drop ? 'removed' : 'kept',
    effect: isLeaving && !drop ? 'none' : 'sequence',
    sequenceNumber: drop || isLeaving ? current.sequenceNumber : (next.get(current.name) ?? 1),
    version: null,
    given: undefined,
    merged: null,
    stored: null,
    restored: null,
  };
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
      commands: await withPending(tx, row, ['disable', 'uninstall']),
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
