import { compareVersions, parseVersion, runOrder } from '#protocol/index.ts';
import type { RolloutChange } from '#server/domain/rollout-rules/stored.ts';
import type { DeclaredVm } from '../declared-vm.ts';
import type { VmChange } from '../evaluate.ts';
import type { ExtensionRow } from '../publish.ts';
import type { DeclarationTarget } from '../resolve-targets.ts';
import type { MemberChange } from './change.ts';
import type { EarlierContents } from './earlier-contents.ts';
import { mergePatch } from './merge-patch.ts';

type Patch = Extract<MemberChange, { kind: 'patch' }>;
type Restore = Extract<MemberChange, { kind: 'restore' }>;

/** An extension to declare, before its settings are checked. */
export type UncheckedTarget = Omit<DeclarationTarget, 'settings'>;

/**
 * What a change means for one VM: new declarations, other changes, or nothing to do. `unknown`: the goal state whose
 * contents would be declared does not exist.
 */
export type Translated =
  | { kind: 'targets'; targets: UncheckedTarget[] }
  | { kind: 'changes'; changes: VmChange[] }
  | { kind: 'unchanged' }
  | { kind: 'unknown' };

const unchanged: Translated = { kind: 'unchanged' };

/** Returns what a change means for a VM. */
export function translate(vm: DeclaredVm, change: MemberChange, earlier: EarlierContents): Translated {
  if (change.kind === 'restore') return restoring(vm, change, earlier);
  if (change.kind === 'repeat') return retries(change.extensions);
  const { change: patch } = change;
  if (patch.kind === 'revert') return reverting(vm, patch, earlier);
  const matching = vm.present.filter((row) => matches(patch, row) && row.state !== 'uninstall');
  if (patch.kind === 'set') return setting(vm, change, matching);
  if (matching.length === 0) return unchanged;
  return patch.kind === 'retry' ? retries(matching) : removals(matching);
}

/** Whether a patch is about an extension. */
const matches = ({ handler, extension }: RolloutChange, row: { name: string; handler: string }): boolean =>
  (handler === null || row.handler === handler) && (extension === null || row.name === extension);

const retries = (extensions: readonly { name: string }[]): Translated => ({
  kind: 'changes',
  changes: extensions.map(({ name }) => ({ kind: 'retry', name, seen: undefined })),
});

/** Removes extensions before the extensions that they depend on. */
const removals = (rows: readonly ExtensionRow[]): Translated => ({
  kind: 'changes',
  changes: runOrder([...rows])
    .toReversed()
    .map(({ name }) => ({ kind: 'remove', name, force: false })),
});

function restoring(vm: DeclaredVm, change: Restore, earlier: EarlierContents): Translated {
  const contents = earlier.get(vm.head.vmId);
  if (contents === undefined) return { kind: 'unknown' };
  const only = change.extensions.map(({ name }) => name);
  const takesBack = change.undelivered !== undefined;
  const wanted = contents.filter(({ name }) => only.includes(name));
  return { kind: 'changes', changes: [{ kind: 'revert', contents: wanted, only, takesBack }] };
}

function reverting(vm: DeclaredVm, patch: RolloutChange, earlier: EarlierContents): Translated {
  const contents = earlier.get(vm.head.vmId);
  if (contents === undefined) return { kind: 'unknown' };
  const wanted = contents.filter((extension) => matches(patch, extension));
  const present = vm.present.filter((row) => matches(patch, row));
  const only = [...new Set([...wanted, ...present].map(({ name }) => name))];
  if (only.length === 0) return unchanged;
  return { kind: 'changes', changes: [{ kind: 'revert', contents: wanted, only }] };
}

function setting(vm: DeclaredVm, { change, given, automatic }: Patch, matching: readonly ExtensionRow[]): Translated {
  const { version, extension } = change;
  const rows = automatic ? matching.filter((row) => isUpgradable(row, version)) : matching;
  if (rows.length === 0) {
    // An extension that is being uninstalled is not installed again.
    if (automatic || change.onAbsent === 'skip' || extension === null) return unchanged;
    if (vm.present.some((row) => matches(change, row))) return unchanged;
  }
  const isLower = version !== null && rows.some((row) => compareVersions(version, row.version) < 0);
  if (isLower && !change.allowLower) return unchanged;
  const targets =
    rows.length > 0
      ? rows.map((row) => targetOf(row.name, row, change, given, automatic === true))
      : [targetOf(extension ?? '', undefined, change, given, false)];
  return { kind: 'targets', targets };
}

/** Whether an automatic upgrade to the version changes the extension. */
function isUpgradable(row: ExtensionRow, version: string | null): boolean {
  if (version === null || !row.autoUpgradeMinorVersion) return false;
  const isSameMajor = parseVersion(version)?.[0] === parseVersion(row.version)?.[0];
  return isSameMajor && compareVersions(row.version, version) < 0;
}

/** Returns the new declaration of an extension. Fields that the change does not name stay as they are. */
function targetOf(
  name: string,
  row: ExtensionRow | undefined,
  change: RolloutChange,
  given: unknown,
  automatic: boolean,
): UncheckedTarget {
  const { version, protectedSettings } = change;
  const keepsRequested = row !== undefined && (version === null || automatic);
  return {
    name,
    goal: {
      handler: change.handler ?? row?.handler ?? '',
      version: version ?? row?.version ?? '',
      state: change.state ?? (row?.state === 'disabled' ? 'disabled' : 'enabled'),
      autoUpgradeMinorVersion: change.autoUpgradeMinorVersion ?? row?.autoUpgradeMinorVersion ?? false,
      dependsOn: change.dependsOn ?? row?.dependsOn ?? [],
      timeouts: { ...row?.timeouts, ...change.timeouts },
      settings: {
        publicSettings: publicSettingsOf(row, change),
        ...(protectedSettings !== null && { protectedSettings: protectedSettings === 'given' ? given : null }),
      },
    },
    ...(keepsRequested && { requestedVersion: row.requestedVersion }),
    merged: null,
    path: '',
  };
}

function publicSettingsOf(row: ExtensionRow | undefined, { publicSettings }: RolloutChange): Record<string, unknown> {
  const current = row?.publicSettings ?? {};
  if (publicSettings === null) return current;
  return 'replace' in publicSettings ? { ...publicSettings.replace } : mergePatch(current, publicSettings.merge);
}
