import { DomainError } from '#server/domain/error.ts';
import { type DeclaredVm, isStock, requireVersion, secretOf, type VersionLookup } from './declared-vm.ts';
import type { Evaluation, ExtensionMove } from './move.ts';
import { contentsOf } from './publish.ts';

/**
 * Evaluates a declaration with the same contents and the next sequence number. If `seen` is given, it must be the
 * current sequence number. Throws 404 `extension_absent`, 409 `vm_decommissioning` | `uninstalling`, 412
 * `extension_moved_on`.
 */
export function evaluateRetry(
  { head, present, next, secrets, machine }: DeclaredVm,
  versions: VersionLookup,
  { name, seen }: { name: string; seen: number | undefined },
): Evaluation {
  if (head.decommissioning) throw new DomainError('conflict', 'vm_decommissioning');
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
    sequenceNumber: next.get(name) ?? current.sequenceNumber + 1,
    version: requireVersion(versions, current),
    given: undefined,
    merged: null,
    stored: secretOf(secrets, current.secretId),
    restored: null,
  };
  return { present, moves: [move], faults: [], isStock: isStock(machine) };
}
