import type { Context } from '#server/domain/context.ts';
import { DomainError, type Fault } from '#server/domain/error.ts';
import { isHandlerVersion } from '#server/domain/packages/index.ts';
import { fingerprintOf, type SecretRow, secretStateOf } from './custody.ts';
import { type Declared, protectedSchemaDigest, ruleFaults } from './declare.ts';
import { type DeclaredVm, formulaFault, isStock, secretOf, type VersionLookup } from './declared-vm.ts';
import { defaultTimeouts, effectOf } from './goal-state.ts';
import { requireMergeable } from './merge-settings.ts';
import { type Evaluation, type ExtensionMove, givenSecret, type SecretChange } from './move.ts';
import { platformFaults } from './platform-faults.ts';
import type { Head } from './publish.ts';
import { type DeclarationTarget, keepsUnfitSecrets } from './resolve-targets.ts';

/**
 * Evaluates the new declarations of extensions of one handler against the current declarations. With `compares`,
 * protected settings that equal the old settings count as kept. Plans must not compare, because they would confirm
 * guessed secrets. Throws 409 `vm_decommissioning` | `uninstalling` | `handler_fixed`.
 */
export function evaluateDeclaration(
  ctx: Pick<Context, 'keys' | 'config'>,
  { head, present, next, secrets: stored, machine }: DeclaredVm,
  versions: VersionLookup,
  { targets, compares }: { targets: readonly DeclarationTarget[]; compares: boolean },
): Evaluation {
  if (head.decommissioning) throw new DomainError('conflict', 'vm_decommissioning');
  const moves: ExtensionMove[] = [];
  const faults: Fault[] = [];
  for (const { name, goal, requestedVersion, merged, path, settings } of targets) {
    const current = present.find((row) => row.name === name);
    if (current?.state === 'uninstall') throw new DomainError('conflict', 'uninstalling', { params: { name } });
    if (current && current.handler !== goal.handler) {
      throw new DomainError('conflict', 'handler_fixed', { params: { name, handler: current.handler } });
    }
    const version = versions(goal);
    if (version === null || settings === null) {
      faults.push({
        path: `${path}/version`,
        code: 'version_unknown',
        params: { handler: goal.handler, version: goal.version },
      });
      continue;
    }
    if (!isHandlerVersion(version)) {
      const fault = formulaFault(version);
      faults.push({ ...fault, path: path + fault.path });
      continue;
    }
    // The rules between extensions are checked as if siblings already had the new version.
    const among = present.map((row) =>
      row.name !== name && targets.some((target) => target.name === row.name)
        ? { ...row, version: version.version }
        : row,
    );
    const kept = secretOf(stored, current?.secretId ?? null);
    if (merged !== null) requireMergeable(ctx, head, kept, merged);
    const found = [
      ...ruleFaults(name, goal, version, among),
      ...platformFaults(machine, version, goal.state, current),
      ...settings,
    ];
    if (keepsUnfitSecrets(goal, version, kept)) {
      found.push({ path: '/settings/protectedSettings', code: 'secrets_required' });
    }
    faults.push(...found.map((fault) => ({ ...fault, path: path + fault.path })));
    // Settings that were checked with another schema are stored again, so that they can be kept from then on.
    const mayBeEqual = compares && kept?.schemaDigest === protectedSchemaDigest(version.settingsSchema);
    const secret = secretChangeOf(ctx, head, name, goal.settings.protectedSettings, kept, mayBeEqual);
    const after: Declared = {
      name,
      handler: goal.handler,
      requestedVersion: requestedVersion ?? version.version,
      // If the version was upgraded automatically, a repeated request keeps the upgraded version.
      version:
        current && requestedVersion === undefined && current.requestedVersion === version.version
          ? current.version
          : version.version,
      state: goal.state,
      autoUpgradeMinorVersion: goal.autoUpgradeMinorVersion,
      dependsOn: goal.dependsOn,
      timeouts: { ...defaultTimeouts, ...goal.timeouts },
      publicSettings: goal.settings.publicSettings,
      secretId: secret === 'kept' ? (kept?.id ?? null) : secret === 'none' || secret === 'removed' ? null : givenSecret,
    };
    const effect = effectOf(current, after);
    const sequenceNumber = effect === 'sequence' || !current ? (next.get(name) ?? 1) : current.sequenceNumber;
    const given = goal.settings.protectedSettings;
    const secrets = { given, merged, stored: kept, restored: null };
    moves.push({ name, current, after, secret, effect, sequenceNumber, version, ...secrets });
  }
  return { present, moves, faults, isStock: isStock(machine) };
}

function secretChangeOf(
  ctx: Pick<Context, 'keys'>,
  head: Head,
  name: string,
  given: unknown,
  kept: SecretRow | null,
  compares: boolean,
): SecretChange {
  if (given === undefined) return kept ? 'kept' : 'none';
  if (given === null) return kept ? 'removed' : 'none';
  if (!kept) return 'added';
  const comparable = compares && secretStateOf(kept, head) === 'ready';
  return comparable && kept.fingerprint === fingerprintOf(ctx, head.vmId, name, given) ? 'kept' : 'replaced';
}
