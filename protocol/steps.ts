import type { GoalStateExtension } from './goal-state.ts';
import type { CommandName } from './manifest.ts';
import { compareVersions } from './version.ts';

/** Why a command runs: to reach the goal, to replace a version, or to remove an extension. */
export type StepPurpose = 'goal' | 'update' | 'downgrade' | 'remove';

/** A command of a handler. */
export interface HandlerStep {
  command: CommandName;
  /** The version whose command it is. */
  version: string;
  purpose: StepPurpose;
  /** For `update`: the version that is replaced. */
  from?: string;
}

/** What a machine has of a handler, and the version that it should have. */
export interface HandlerChange {
  version: string;
  /** Versions of the handler whose install or update succeeded. */
  installed: readonly string[];
  /** The update to `version` succeeded and its install, which has to follow, did not run yet. */
  isUpdated: boolean;
  /** Whether install of the new version runs after its update. */
  installsInUpdate: boolean;
}

/**
 * The commands that bring a handler to `version`, in order: all but the last one, which enables or disables each of its
 * extensions. `disable` runs for each extension that the replaced version runs for, everything else once (AZ-G1, AZ-G7).
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
  // An update that was overtaken leaves the version that it replaced; AZ-G7 begins with one version.
  const steps: HandlerStep[] = older.map(uninstall(purpose));
  if (purpose === 'downgrade') return [...steps, disable, uninstall(purpose)(newest), install];
  if (!isUpdated) steps.push(disable, { command: 'update', version, purpose, from: newest });
  return [...steps, uninstall(purpose)(newest), ...(installsInUpdate ? [install] : [])];
}

/** The commands that remove an extension; a handler that others still use is not uninstalled (AZ-G5). */
export function removalSteps(
  installed: readonly string[],
  { runs, isShared }: { runs: boolean; isShared: boolean },
): HandlerStep[] {
  const each = (command: CommandName) =>
    installed.map((version): HandlerStep => ({ command, version, purpose: 'remove' }));
  return [...(runs ? each('disable') : []), ...(isShared ? [] : each('uninstall'))];
}

/** The last command on the way of an extension to its goal, unless it is removed. */
export const goalCommand = (state: GoalStateExtension['state']): 'enable' | 'disable' =>
  state === 'enabled' ? 'enable' : 'disable';

/** The commands that a goal takes on a machine that has what it needs for it and nothing else. */
export function usualCommands(state: GoalStateExtension['state']): CommandName[] {
  if (state === 'uninstall') return ['disable', 'uninstall'];
  return ['install', goalCommand(state)];
}
