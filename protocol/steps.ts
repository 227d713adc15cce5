import type { GoalStateExtension } from './goal-state.ts';
import type { CommandName } from './manifest.ts';
import { compareVersions } from './version.ts';

/** Why a command runs: to reach the goal, to replace a version, or to remove an extension. */
export type StepPurpose = 'goal' | 'update' | 'downgrade' | 'remove';

/** A command of a handler. */
export interface HandlerStep {
  command: CommandName;
  /** The version whose command runs. */
  version: string;
  purpose: StepPurpose;
  /** For `update`: the version being replaced. */
  from?: string;
}

/** The versions of a handler on a machine, and the version that it should have. */
export interface HandlerChange {
  version: string;
  /** Versions of the handler whose install or update succeeded. */
  installed: readonly string[];
  /** Whether the update to `version` succeeded but the install that must follow has not succeeded yet. */
  isUpdated: boolean;
  /** Whether install of the new version runs after its update. */
  installsInUpdate: boolean;
}

/**
 * Returns the commands that bring a handler to `version`, in order, except the last one, which enables or disables each
 * extension. `disable` runs for each extension that uses the replaced version; every other command runs once (AZ-G1,
 * AZ-G7).
 */
export function versionSteps({ version, installed, isUpdated, installsInUpdate }: HandlerChange): HandlerStep[] {
  const others = installed.filter((other) => other !== version).sort((a, b) => compareVersions(b, a));
  const uninstall = (purpose: StepPurpose) => (other: string) =>
    ({ command: 'uninstall', version: other, purpose }) as const;
  if (installed.includes(version)) return others.map(uninstall('update'));
  const [newest, ...older] = others;
  if (newest === undefined) return [{ command: 'install', version, purpose: 'goal' }];
  const purpose = compareVersions(version, newest) > 0 ? 'update' : 'downgrade';
  const disable: HandlerStep = { command: 'disable', version: newest, purpose };
  const install: HandlerStep = { command: 'install', version, purpose };
  // An update that never finished leaves behind the version that it should have replaced. AZ-G7 starts from a single
  // version, so older versions are uninstalled first.
  const steps: HandlerStep[] = older.map(uninstall(purpose));
  if (purpose === 'downgrade') return [...steps, disable, uninstall(purpose)(newest), install];
  if (!isUpdated) steps.push(disable, { command: 'update', version, purpose, from: newest });
  return [...steps, uninstall(purpose)(newest), ...(installsInUpdate ? [install] : [])];
}

/** Returns the commands that remove an extension. A handler that other extensions use is not uninstalled (AZ-G5). */
export function removalSteps(
  installed: readonly string[],
  { runs, isShared }: { runs: boolean; isShared: boolean },
): HandlerStep[] {
  const each = (command: CommandName) =>
    installed.map((version): HandlerStep => ({ command, version, purpose: 'remove' }));
  return [...(runs ? each('disable') : []), ...(isShared ? [] : each('uninstall'))];
}

/** Returns the last command that brings an extension to its goal. Must not be called for `uninstall`. */
export const goalCommand = (state: GoalStateExtension['state']): 'enable' | 'disable' =>
  state === 'enabled' ? 'enable' : 'disable';

/** Returns the commands that reach a goal on a machine without any other version or extension of the handler. */
export function usualCommands(state: GoalStateExtension['state']): CommandName[] {
  if (state === 'uninstall') return ['disable', 'uninstall'];
  return ['install', goalCommand(state)];
}
