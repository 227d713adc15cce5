import { and, eq } from 'drizzle-orm';
import { z } from 'zod';
import type { Transaction } from '#db/client.ts';
import { extensions } from '#db/schema/index.ts';
import type { CommandName } from '#protocol/index.ts';
import { allow } from '#server/domain/actor.ts';
import { count } from '#server/domain/answers.ts';
import { recordAudit } from '#server/domain/audit/index.ts';
import type { Context } from '#server/domain/context.ts';
import { handlerId, handlerVersion } from '#server/domain/packages/input.ts';
import { parse } from '#server/domain/parse.ts';
import { expectReports } from '#server/domain/reported-state/index.ts';
import { vmId } from '#server/domain/vms/input.ts';
import { commandsFor } from './commands-for.ts';
import { storeSecret } from './custody.ts';
import { type Declared, protectedSchemaDigest, unprocessable } from './declare.ts';
import { evaluateVm } from './evaluate.ts';
import { goal } from './goal.ts';
import { type SetExtensionInput, setExtensionInput } from './input.ts';
import { type ExtensionMove, givenSecret } from './move.ts';
import { requirePlan } from './plan.ts';
import { loggedSettings } from './planned-settings.ts';
import { type ExtensionRow, type Head, lockHead, publishGoalState, requireIncarnation } from './publish.ts';
import { resolveTargets } from './resolve-targets.ts';
import { nextSequenceNumber } from './sequence.ts';
import { shownExtension } from './shown-extension.ts';

/** Result of a declaration: the current state of the extension. */
export const extensionReceipt = z.object({
  vmId,
  name: z.string(),
  handler: handlerId,
  version: handlerVersion,
  requestedVersion: handlerVersion,
  state: goal,
  sequenceNumber: count,
  incarnation: count,
});
export type ExtensionReceipt = z.infer<typeof extensionReceipt>;

/**
 * Declares an extension of a VM; with `siblings`, the handler's other extensions get the same version in the same goal
 * state. `changes` change individual protected settings. Throws 404 `vm_unknown`, 409 `uninstalling` | `handler_fixed`
 * | `vm_decommissioning`, and the 409 errors of `changeProtectedSettings`; 412 `goal_state_moved_on` | `plan_moved_on`;
 * 422 with every violated rule and settings fault. An identical request changes nothing.
 */
export async function setExtension(ctx: Context, input: SetExtensionInput): Promise<ExtensionReceipt> {
  allow(ctx.actor, 'operator');
  const { vmId, name, goal, changes, siblings, ifMatch, plan } = parse(setExtensionInput, input);
  const targets = await resolveTargets(ctx, vmId, name, goal, { siblings, changes });

  return ctx.db.transaction(async (tx) => {
    const head = await lockHead(tx, vmId);
    requireIncarnation(head, ifMatch);
    const change = { kind: 'set' as const, targets, compares: plan === undefined };
    const evaluation = await evaluateVm(tx, ctx, head, change);
    requirePlan(ctx, head, 'set', evaluation, plan);
    if (evaluation.faults.length > 0) throw unprocessable(evaluation.faults);

    const receipts: Omit<ExtensionReceipt, 'incarnation'>[] = [];
    const commands = await commandsFor(tx, evaluation);
    for (const move of evaluation.moves) receipts.push(await applyMove(tx, ctx, head, move, commands.get(move.name)));
    const [first] = receipts;
    if (!first) throw new Error('no extension to declare');
    if (evaluation.moves.every(({ effect }) => effect === 'none')) return { ...first, incarnation: head.incarnation };
    const incarnation = await publishGoalState(tx, ctx, head, { action: 'extension.set', extension: name });
    return { ...first, incarnation };
  });
}

async function applyMove(
  tx: Transaction,
  ctx: Context,
  head: Head,
  move: ExtensionMove,
  commands: CommandName[] | undefined,
): Promise<Omit<ExtensionReceipt, 'incarnation'>> {
  const { name, current, after, effect, version, given, merged } = move;
  if (!after || !version) throw new Error('a declaration needs a version');
  if (effect === 'none' && current) return receiptOf(current);
  const schema = protectedSchemaDigest(version.settingsSchema);
  const secretId =
    after.secretId === givenSecret
      ? await storeSecret(tx, ctx, head, name, given, schema, merged?.carried)
      : after.secretId;
  const declared = { ...after, secretId };
  const row = await writeExtension(tx, ctx, head.vmId, declared, current, commands);
  await recordAudit(tx, ctx, {
    action: 'extension.set',
    target: { kind: 'extension', id: name },
    vmId: head.vmId,
    before: current && shownExtension(current),
    after: shownExtension(declared),
    details: { handler: declared.handler, version: declared.version, ...loggedSettings(ctx, move) },
  });
  return receiptOf(row);
}

/** Writes a declaration. With `commands`, the extension gets the next sequence number, which starts a new operation. */
export async function writeExtension(
  tx: Transaction,
  ctx: Context,
  vmId: string,
  declared: Declared,
  current: ExtensionRow | undefined,
  commands: CommandName[] | undefined,
): Promise<ExtensionRow> {
  const started = commands !== undefined && {
    commands,
    sequenceNumber: await nextSequenceNumber(tx, vmId, declared.name),
    changedAt: ctx.now,
    changedBy: ctx.actor.name,
    deliveredAt: null,
  };
  const { name, ...values } = declared;
  const [row] = current
    ? await tx
        .update(extensions)
        .set({ ...values, ...started })
        .where(and(eq(extensions.vmId, vmId), eq(extensions.name, name)))
        .returning()
    : await tx
        .insert(extensions)
        .values({ vmId, ...declared, sequenceNumber: 1, changedAt: ctx.now, changedBy: ctx.actor.name, ...started })
        .returning();
  if (!row) throw new Error('the extension was not written');
  if (!current) await expectReports(tx, [{ vmId, name }]);
  return row;
}

/** Returns the result of a declaration without the incarnation. */
export function receiptOf(row: ExtensionRow): Omit<ExtensionReceipt, 'incarnation'> {
  return {
    vmId: row.vmId,
    name: row.name,
    handler: row.handler,
    version: row.version,
    requestedVersion: row.requestedVersion,
    state: row.state,
    sequenceNumber: row.sequenceNumber,
  };
}
