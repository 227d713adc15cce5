import type { Transaction } from '#db/client.ts';
import type { Context } from '#server/domain/context.ts';
import { commandsFor } from './commands-for.ts';
import { evaluateVm } from './evaluate.ts';
import { type ExtensionRow, type LiveHead, publishGoalState } from './publish.ts';
import { writeExtension } from './set-extension.ts';

/** The cause of goal states that `repeatExtension` publishes. */
export const retryCause = 'extension.retry';

/**
 * Declares an extension again with the same contents and the next sequence number, so that its handler runs again. If
 * `seen` is given, it must be the current sequence number. The caller holds the head's lock. Throws 404
 * `extension_absent`, 409 `vm_decommissioning` | `uninstalling`, 412 `extension_moved_on`.
 */
export async function repeatExtension(
  tx: Transaction,
  ctx: Context,
  head: LiveHead,
  name: string,
  seen?: number,
): Promise<{ row: ExtensionRow; incarnation: number }> {
  const evaluation = await evaluateVm(tx, ctx, head, { kind: 'retry', name, seen });
  const [move] = evaluation.moves;
  if (!move?.after) throw new Error('a retry needs an extension');
  const commands = await commandsFor(tx, evaluation);
  const row = await writeExtension(tx, ctx, head.vmId, move.after, move.current, commands.get(name));
  const incarnation = await publishGoalState(tx, ctx, head, { action: retryCause, extension: name });
  return { row, incarnation };
}
