import type { Transaction } from '#db/client.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { commandsFor } from './commands-for.ts';
import { findVersion } from './declare.ts';
import { type ExtensionMove, nextSequences } from './evaluate.ts';
import { contentsOf, type ExtensionRow, type Head, loadExtensions, publishGoalState } from './publish.ts';
import { writeExtension } from './set-extension.ts';

/** The cause of goal states that `repeatExtension` publishes. */
export const retryCause = 'extension.retry';

/**
 * Declares an extension with the same contents and the next sequence number, so that its handler runs again. If `seen`
 * is given, it must be the current sequence number. The caller holds the head's lock. Throws 404 `extension_absent`,
 * 409 `vm_decommissioning` | `uninstalling`, 412 `extension_moved_on`.
 */
export async function repeatExtension(
  tx: Transaction,
  ctx: Context,
  head: Head & { decommissioning: boolean },
  name: string,
  seen?: number,
): Promise<{ row: ExtensionRow; incarnation: number }> {
  const { vmId } = head;
  if (head.decommissioning) throw new DomainError('conflict', 'vm_decommissioning');
  const present = await loadExtensions(tx, vmId);
  const current = present.find((row) => row.name === name);
  if (!current) throw new DomainError('not_found', 'extension_absent');
  if (current.state === 'uninstall') throw new DomainError('conflict', 'uninstalling', { params: { name } });
  if (seen !== undefined && seen !== current.sequenceNumber) {
    throw new DomainError('precondition_failed', 'extension_moved_on', { params: { name, who: current.changedBy } });
  }
  const { sequenceNumber: _, ...after } = contentsOf(current);
  const move: ExtensionMove = {
    name,
    current,
    after,
    secret: current.secretId === null ? 'none' : 'kept',
    effect: 'sequence',
    sequenceNumber: (await nextSequences(tx, vmId, [name])).get(name) ?? current.sequenceNumber + 1,
    version: await findVersion(tx, current),
    given: undefined,
    merged: null,
    stored: null,
    restored: null,
  };
  const commands = await commandsFor(tx, vmId, { present, moves: [move] });
  const row = await writeExtension(tx, ctx, vmId, after, current, commands.get(name));
  const incarnation = await publishGoalState(tx, ctx, head, { action: retryCause, extension: name });
  return { row, incarnation };
}
