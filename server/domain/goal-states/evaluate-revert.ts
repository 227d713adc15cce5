import type { ExtensionContents } from '#db/schema/index.ts';
import { DomainError, type Fault } from '#server/domain/error.ts';
import { secretStateOf } from './custody.ts';
import { type RuledExtension, ruleFaults, singleFault } from './declare.ts';
import { type DeclaredVm, isStock, requireVersion, secretOf, type VersionLookup } from './declared-vm.ts';
import { removalMove } from './evaluate-removal.ts';
import { effectOf } from './goal-state.ts';
import type { Evaluation, ExtensionMove, SecretChange } from './move.ts';
import { platformFaults } from './platform-faults.ts';

/** A revert to the contents of an earlier goal state. */
export interface Reversion {
  contents: readonly ExtensionContents[];
  /** The extensions that are reverted, by name; by default, all of them. The others do not change. */
  only?: readonly string[];
  /** Whether the current goal state was not delivered, so that an uninstall in it can be taken back. */
  takesBack?: boolean;
}

/**
 * Evaluates a revert to the contents of an earlier goal state. Throws 409 `vm_decommissioning` | `uninstalling` |
 * `handler_fixed`, 422 `version_unknown`; with `only`, also 409 `extension_needed`.
 */
export function evaluateRevert(
  { head, present, next, secrets: stored, machine }: DeclaredVm,
  versions: VersionLookup,
  { contents, only, takesBack = false }: Reversion,
): Evaluation {
  if (head.decommissioning) throw new DomainError('conflict', 'vm_decommissioning');
  const isMeant = ({ name }: { name: string }) => only === undefined || only.includes(name);
  const leaving = present.find((row) => row.state === 'uninstall' && isMeant(row));
  if (leaving && !takesBack) throw new DomainError('conflict', 'uninstalling', { params: { name: leaving.name } });

  const wanted = contents.filter((extension) => extension.state !== 'uninstall' && isMeant(extension));
  const surplus = present.filter((row) => isMeant(row) && !wanted.some(({ name }) => name === row.name));
  const others = present.filter((row) => !isMeant(row));
  const faults: Fault[] = only === undefined ? [] : faultsAmong(versions, wanted, others, surplus);
  const moves: ExtensionMove[] = [];
  for (const { sequenceNumber: _, ...after } of wanted) {
    const current = present.find((row) => row.name === after.name);
    if (current && current.handler !== after.handler) {
      throw new DomainError('conflict', 'handler_fixed', { params: { name: current.name, handler: current.handler } });
    }
    const version = requireVersion(versions, after);
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
    const unsupported = platformFaults(machine, version, after.state, current);
    faults.push(
      ...[single ?? [], unsupported]
        .flat()
        .map((fault) => ({ ...fault, path: `/extensions/${after.name}${fault.path}` })),
    );
    const secret = secretOf(stored, after.secretId);
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
      stored: secretOf(stored, current?.secretId ?? null),
      restored: secret,
    });
  }
  const removals = surplus.map((row) => removalMove(row, next, !row.everDelivered));
  return { present, moves: [...moves, ...removals], faults, isStock: isStock(machine) };
}

/** Checks the rules between the extensions that are reverted and those that are not. Throws 409 `extension_needed`. */
function faultsAmong(
  versions: VersionLookup,
  wanted: readonly ExtensionContents[],
  others: readonly RuledExtension[],
  surplus: readonly RuledExtension[],
): Fault[] {
  const after = [...wanted, ...others];
  for (const { name } of surplus) {
    const dependants = after.filter((row) => row.state !== 'uninstall' && row.dependsOn.includes(name));
    if (dependants.length === 0) continue;
    const names = dependants.map((row) => row.name).join(', ');
    throw new DomainError('conflict', 'extension_needed', { params: { name, dependants: names } });
  }
  return wanted.flatMap((extension) =>
    ruleFaults(extension.name, extension, requireVersion(versions, extension), after).map((fault) => ({
      ...fault,
      path: `/extensions/${extension.name}${fault.path}`,
    })),
  );
}

function secretChangeOf(before: string | null, after: string | null): SecretChange {
  if (before === after) return after === null ? 'none' : 'kept';
  if (after === null) return 'removed';
  return before === null ? 'added' : 'replaced';
}
