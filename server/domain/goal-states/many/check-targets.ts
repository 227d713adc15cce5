import type { Context } from '#server/domain/context.ts';
import type { Fault } from '#server/domain/error.ts';
import { sha256Hex } from '#server/platform/keys.ts';
import { settingsFaults } from '../declare.ts';
import type { DeclaredVm, VersionLookup } from '../declared-vm.ts';
import { canonicalJson } from '../goal-state.ts';
import type { DeclarationTarget } from '../resolve-targets.ts';
import type { UncheckedTarget } from './translate.ts';

/** Faults of settings that were checked with a schema, so that the same settings are checked once. */
export interface SettingsMemory {
  faults: Map<string, Fault[]>;
  /** Maximum number of different settings to check; null for any number. */
  maxChecks: number | null;
}

/**
 * Adds the faults of the settings to targets. `isChecked` is false if there were too many different settings to check
 * all of them.
 */
export async function checkTargets(
  ctx: Context,
  vm: DeclaredVm,
  versions: VersionLookup,
  targets: readonly UncheckedTarget[],
  memory: SettingsMemory,
): Promise<{ targets: DeclarationTarget[]; isChecked: boolean }> {
  let isChecked = true;
  const checked: DeclarationTarget[] = [];
  for (const target of targets) {
    const faults = await faultsOf(ctx, vm, versions, target, memory);
    if (faults === 'unchecked') isChecked = false;
    checked.push({ ...target, settings: faults === 'unchecked' ? [] : faults });
  }
  return { targets: checked, isChecked };
}

async function faultsOf(
  ctx: Context,
  { present }: DeclaredVm,
  versions: VersionLookup,
  { name, goal }: UncheckedTarget,
  { faults, maxChecks }: SettingsMemory,
): Promise<Fault[] | 'unchecked' | null> {
  const version = versions(goal);
  if (version === null) return null;
  const keeps = present.some((row) => row.name === name && row.secretId !== null);
  const key = sha256Hex(canonicalJson([version.handler, version.version, goal.settings, keeps]));
  const known = faults.get(key);
  if (known !== undefined) return known;
  if (maxChecks !== null && faults.size >= maxChecks) return 'unchecked';
  const found = await settingsFaults(ctx, version, goal, keeps);
  faults.set(key, found);
  return found;
}
