import { and, eq } from 'drizzle-orm';
import { z } from 'zod';
import type { Transaction } from '#db/client.ts';
import { goalStates } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import { count } from '#server/domain/answers.ts';
import { recordAudit } from '#server/domain/audit/index.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { parse } from '#server/domain/parse.ts';
import { vmId } from '#server/domain/vms/input.ts';
import { commandsFor } from './commands-for.ts';
import { unprocessable } from './declare.ts';
import { evaluateVm } from './evaluate.ts';
import { type PlanRevertInput, planRevertInput, type RevertGoalStateInput, revertGoalStateInput } from './input.ts';
import type { Evaluation } from './move.ts';
import { type Plan, planIn, requirePlan } from './plan.ts';
import { type LiveHead, loadExtensions, lockHead, publishGoalState, requireIncarnation } from './publish.ts';
import { dropExtension, markUninstall } from './remove-extension.ts';
import { writeExtension } from './set-extension.ts';
import { shownExtensions } from './shown-extension.ts';

export const revertReceipt = z.object({ vmId, incarnation: count, revertedTo: count });
export type RevertReceipt = z.infer<typeof revertReceipt>;

/**
 * Declares an earlier goal state again as a new incarnation. Extensions whose handler must run get new sequence
 * numbers; extensions added since then are removed. Throws 404 `vm_unknown` | `goal_state_unknown`; 409 `uninstalling`,
 * `vm_decommissioning`, `handler_fixed`; 412 `goal_state_moved_on` | `plan_moved_on`; 422 if a version is withdrawn or
 * does not support the platform, if no copy of a secret is left, or if the machine still has another extension of a
 * handler that allows only one.
 */
export async function revertGoalState(ctx: Context, input: RevertGoalStateInput): Promise<RevertReceipt> {
  allow(ctx.actor, 'operator');
  const { vmId, incarnation: revertedTo, ifMatch, plan } = parse(revertGoalStateInput, input);
  return ctx.db.transaction(async (tx) => {
    const head = await lockHead(tx, vmId);
    requireIncarnation(head, ifMatch);
    const evaluation = await evaluateIn(tx, ctx, head, revertedTo);
    requirePlan(ctx, head, 'revert', evaluation, plan);
    if (evaluation.faults.length > 0) throw unprocessable(evaluation.faults);
    const moves = evaluation.moves.filter(({ effect }) => effect !== 'none');
    if (moves.length === 0) return { vmId, incarnation: head.incarnation, revertedTo };
    const commands = await commandsFor(tx, evaluation);
    for (const { name, current, after } of moves) {
      if (!after) await dropExtension(tx, vmId, name);
      else if (after.state !== 'uninstall') await writeExtension(tx, ctx, vmId, after, current, commands.get(name));
      else if (current) await markUninstall(tx, ctx, current);
    }
    await recordAudit(tx, ctx, {
      action: 'goal-state.revert',
      target: { kind: 'goal-state', id: String(revertedTo) },
      vmId,
      before: shownExtensions(evaluation.present),
      after: shownExtensions(await loadExtensions(tx, vmId)),
      details: { from: head.incarnation, to: revertedTo },
    });
    const incarnation = await publishGoalState(tx, ctx, head, {
      action: 'goal-state.revert',
      incarnation: revertedTo,
    });
    return { vmId, incarnation, revertedTo };
  });
}

/** Plans `revertGoalState` with the same input, without writing. Throws the same 404 and 409 errors. */
export async function planRevert(ctx: Context, input: PlanRevertInput): Promise<Plan> {
  allow(ctx.actor, 'operator');
  const { vmId, incarnation } = parse(planRevertInput, input);
  return planIn(ctx, vmId, 'revert', (tx, head) => evaluateIn(tx, ctx, head, incarnation));
}

async function evaluateIn(tx: Transaction, ctx: Context, head: LiveHead, revertedTo: number): Promise<Evaluation> {
  if (head.decommissioning) throw new DomainError('conflict', 'vm_decommissioning');
  const [old] = await tx
    .select({ contents: goalStates.contents })
    .from(goalStates)
    .where(and(eq(goalStates.vmId, head.vmId), eq(goalStates.incarnation, revertedTo)));
  if (!old) {
    throw new DomainError('not_found', 'goal_state_unknown', { params: { incarnation: revertedTo } });
  }
  return evaluateVm(tx, ctx, head, { kind: 'revert', contents: old.contents });
}
