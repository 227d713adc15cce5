import { and, eq } from 'drizzle-orm';
import { z } from 'zod';
import type { Transaction } from '#db/client.ts';
import { goalStates } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import { count } from '#server/domain/answers.ts';
import { recordAudit } from '#server/domain/audit/index.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError, type Fault } from '#server/domain/error.ts';
import { parse } from '#server/domain/parse.ts';
import { vmId } from '#server/domain/vms/input.ts';
import { commandsFor } from './commands-for.ts';
import { findSecret, secretStateOf } from './custody.ts';
import { type Declared, type ExtensionGoalInput, findVersion, singleFault, unprocessable } from './declare.ts';
import { type Evaluation, type ExtensionMove, nextSequences, type SecretChange } from './evaluate.ts';
import { effectOf } from './goal-state.ts';
import { type PlanRevertInput, planRevertInput, type RevertGoalStateInput, revertGoalStateInput } from './input.ts';
import { type Plan, planIn, requirePlan } from './plan.ts';
import { platformFaults } from './platform-faults.ts';
import { type Head, loadExtensions, lockHead, publishGoalState, requireIncarnation } from './publish.ts';
import { dropExtension, markUninstall, removalMove } from './remove-extension.ts';
import { writeExtension } from './set-extension.ts';
import { shownExtensions } from './shown-extension.ts';

export const revertReceipt = z.object({ vmId, incarnation: count, revertedTo: count });
export type RevertReceipt = z.infer<typeof revertReceipt>;

/**
 * Declares an earlier goal state again as a new incarnation. Extensions whose handler must run get new sequence
 * numbers; extensions added since then are removed. Throws 404 `vm_unknown` | `goal_state_unknown`; 409 `uninstalling`,
 * `vm_decommissioning`, `handler_fixed`; 412 `goal_state_moved_on` | `plan_moved_on`; 422 if a version is withdrawn or
 * does not support the platform, if no copy of a secret is left, or if a handler allows only one extension and the
 * machine still has another extension.
 */
export async function revertGoalState(ctx: Context, input: RevertGoalStateInput): Promise<RevertReceipt> {
  allow(ctx.actor, 'operator');
  const { vmId, incarnation: revertedTo, ifMatch, plan } = parse(revertGoalStateInput, input);
  return ctx.db.transaction(async (tx) => {
    const head = await lockHead(tx, vmId);
    requireIncarnation(head, ifMatch);
    const evaluation = await evaluateRevert(tx, head, revertedTo);
    requirePlan(ctx, head, 'revert', evaluation, plan);
    if (evaluation.faults.length > 0) throw unprocessable(evaluation.faults);
    const moves = evaluation.moves.filter(({ effect }) => effect !== 'none');
    if (moves.length === 0) return { vmId, incarnation: head.incarnation, revertedTo };
    const commands = await commandsFor(tx, vmId, evaluation);
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
  return planIn(ctx, vmId, 'revert', (tx, head) => evaluateRevert(tx, head, incarnation));
}

async function evaluateRevert(
  tx: Transaction,
  head: Head & { decommissioning: boolean },
  revertedTo: number,
): Promise<Evaluation> {
  const { vmId } = head;
  if (head.decommissioning) throw new DomainError('conflict', 'vm_decommissioning');
  const [old] = await tx
    .select({ contents: goalStates.contents })
    .from(goalStates)
    .where(and(eq(goalStates.vmId, vmId), eq(goalStates.incarnation, revertedTo)));
  if (!old) {
    throw new DomainError('not_found', 'goal_state_unknown', { params: { incarnation: revertedTo } });
  }
  const present = await loadExtensions(tx, vmId);
  const leaving = present.find((row) => row.state === 'uninstall');
  if (leaving) throw new DomainError('conflict', 'uninstalling', { params: { name: leaving.name } });

  const wanted = old.contents.filter((extension) => extension.state !== 'uninstall');
  const surplus = present.filter(({ name }) => !wanted.some((extension) => extension.name === name));
  const next = await nextSequences(
    tx,
    vmId,
    [...wanted, ...surplus].map(({ name }) => name),
  );
  const faults: Fault[] = [];
  const moves: ExtensionMove[] = [];
  for (const { sequenceNumber: _, ...after } of wanted) {
    const current = present.find((row) => row.name === after.name);
    if (current && current.handler !== after.handler) {
      throw new DomainError('conflict', 'handler_fixed', { params: { name: current.name, handler: current.handler } });
    }
    const version = await findVersion(tx, goalOf(after));
    if (version.state === 'withdrawn' && current?.version !== version.version) {
      faults.push({
        path: `/extensions/${after.name}/version`,
        code: 'version_withdrawn',
        params: { handler: version.handler, version: version.version },
      });
    }
    // Without this check, the machine would have the settings of both extensions and use the settings with the higher
    // sequence number (AZ-C4).
    const other = surplus.find((row) => row.everDelivered && row.handler === after.handler);
    const single = singleFault(after.handler, version, other);
    const unsupported = await platformFaults(tx, vmId, version, after.state, current);
    faults.push(
      ...[single ?? [], unsupported]
        .flat()
        .map((fault) => ({ ...fault, path: `/extensions/${after.name}${fault.path}` })),
    );
    const secret = await findSecret(tx, vmId, after.secretId);
    if (secret && secretStateOf(secret, head) === 'needsSecrets') {
      faults.push({ path: `/extensions/${after.name}/settings/protectedSettings`, code: 'secrets_required' });
    }
    const effect = effectOf(current, after);
    moves.push({
      name: after.name,
      current,
      after,
      secret: secretChangeOf(current?.secretId ?? null, after.secretId),
      effect,
      sequenceNumber: effect === 'sequence' || !current ? (next.get(after.name) ?? 1) : current.sequenceNumber,
      version,
      given: undefined,
      merged: null,
      stored: await findSecret(tx, vmId, current?.secretId ?? null),
      restored: secret,
    });
  }
  return { present, moves: [...moves, ...surplus.map((row) => removalMove(row, next, !row.everDelivered))], faults };
}

function secretChangeOf(before: string | null, after: string | null): SecretChange {
  if (before === after) return after === null ? 'none' : 'kept';
  if (after === null) return 'removed';
  return before === null ? 'added' : 'replaced';
}

const goalOf = (extension: Declared): ExtensionGoalInput => ({
  handler: extension.handler,
  version: extension.version,
  state: extension.state === 'disabled' ? 'disabled' : 'enabled',
  autoUpgradeMinorVersion: extension.autoUpgradeMinorVersion,
  dependsOn: extension.dependsOn,
  timeouts: extension.timeouts,
  settings: { publicSettings: extension.publicSettings },
});
