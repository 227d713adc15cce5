import { DomainError } from '#server/domain/error.ts';
import type { Declared } from './declare.ts';
import { type DeclaredVm, isStock } from './declared-vm.ts';
import type { Evaluation, ExtensionMove } from './move.ts';
import { contentsOf, type ExtensionRow } from './publish.ts';

/** Evaluates the removal of an extension. Throws 404 `extension_absent`, 409 `extension_needed`. */
export function evaluateRemoval(
  { present, next, machine }: DeclaredVm,
  { name, force }: { name: string; force: boolean },
): Evaluation {
  const current = present.find((row) => row.name === name);
  if (!current) throw new DomainError('not_found', 'extension_absent');
  const dependants = present.filter((row) => row.state !== 'uninstall' && row.dependsOn.includes(name));
  if (dependants.length > 0) {
    const names = dependants.map((row) => row.name).join(', ');
    throw new DomainError('conflict', 'extension_needed', { params: { name, dependants: names } });
  }
  const moves = [removalMove(current, next, force || !current.everDelivered)];
  return { present, moves, faults: [], isStock: isStock(machine) };
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
