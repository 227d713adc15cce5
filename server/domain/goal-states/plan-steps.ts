import { z } from 'zod';
import {
  byName,
  type CommandName,
  type CommandStep,
  compareVersions,
  goalCommand,
  type HandlerManifest,
  type MachineContents,
  newRound,
  type PredictedTarget,
  predictCommands,
  runOrder,
  updatesWithInstall,
} from '#protocol/index.ts';
import { count } from '#server/domain/answers.ts';
import { handlerVersion } from '#server/domain/packages/input.ts';
import type { Declared } from './declare.ts';
import type { ExtensionMove } from './move.ts';
import type { ExtensionRow } from './publish.ts';

/** A command that the agent runs. */
export const plannedStep = z.object({
  extension: z.string(),
  command: z.enum(['install', 'update', 'enable', 'disable', 'uninstall']),
  /** The version whose manifest has the command. */
  version: handlerVersion,
  /** Timeout in seconds. */
  seconds: count,
});
export type PlannedStep = z.infer<typeof plannedStep>;

/** An extension whose declaration does not change: its command runs again with the same sequence number. */
export const plannedOther = z.object({
  name: z.string(),
  command: z.enum(['enable', 'disable']),
  /** Whether the extension is enabled and depends, directly or not, on an extension whose handler runs. */
  waits: z.boolean(),
});
export type PlannedOther = z.infer<typeof plannedOther>;

/** Returns the commands of a change in the order in which the agent runs them. */
export function stepsOfAll(
  moves: readonly ExtensionMove[],
  present: readonly ExtensionRow[],
  isStock: boolean,
): PlannedStep[] {
  return predictChange(moves, present, isStock).map(({ kind, version, goal }) => ({
    extension: goal.name,
    command: kind,
    version,
    seconds: goal.timeouts[kind],
  }));
}

/**
 * Returns the commands of a change by extension. A command that several extensions of a handler share is listed for
 * each extension.
 */
export function stepsByExtension(
  moves: readonly ExtensionMove[],
  present: readonly ExtensionRow[],
  isStock: boolean,
): Map<string, CommandName[]> {
  const steps = predictChange(moves, present, isStock);
  return new Map(
    moves.map(({ name }) => [
      name,
      steps.filter(({ extensions }) => extensions.includes(name)).map(({ kind }) => kind),
    ]),
  );
}

/**
 * Predicts a change with the agent's own rules, assuming that the machine has reached its last delivered goal. Returns
 * the commands for extensions that change, each with the goal whose timeout applies.
 */
function predictChange(
  moves: readonly ExtensionMove[],
  present: readonly ExtensionRow[],
  isStock: boolean,
): (CommandStep & { goal: Declared })[] {
  const changed = new Map(
    moves.flatMap((move) => (move.effect !== 'none' && move.after ? [[move.name, move.after] as const] : [])),
  );
  if (changed.size === 0) return [];
  const installing = new Set(
    moves.flatMap(({ name, version }) => (version && installsInUpdate(version.manifest, isStock) ? [name] : [])),
  );
  // All extensions of a handler have one version, so extensions that do not change get the version of the extensions
  // that change.
  const staying = [...changed.values()].filter(({ state }) => state !== 'uninstall');
  const versionOf = new Map(staying.map(({ handler, version }) => [handler, version]));
  const targets = goalsAfter(present, moves).map((goal): PredictedTarget => {
    const version = (goal.state !== 'uninstall' && versionOf.get(goal.handler)) || goal.version;
    return { ...goal, version, package: { sha256: version }, installsInUpdate: installing.has(goal.name) };
  });
  const { commands } = predictCommands(targets, { contents: deliveredTo(present, targets), round: newRound() });
  return commands.flatMap((step) => {
    const goal = step.extensions.map((name) => changed.get(name)).find((one) => one !== undefined);
    return goal ? [{ ...step, goal }] : [];
  });
}

/** Returns what a machine contains once it has reached its last delivered goal. */
function deliveredTo(present: readonly ExtensionRow[], targets: readonly PredictedTarget[]): MachineContents {
  const contents: MachineContents = { handlers: byName(), extensions: byName() };
  for (const { name, handler, version: declared, everDelivered } of present) {
    if (!everDelivered) continue;
    // Versions are compared by value, because one version has several spellings.
    const target = targets.find((one) => one.handler === handler && compareVersions(one.version, declared) === 0);
    const version = target?.version ?? declared;
    contents.handlers[handler] ??= { versions: byName() };
    contents.handlers[handler].versions[version] = { sha256: version, installed: true };
    contents.extensions[name] = { version };
  }
  return contents;
}

/**
 * Whether an update also runs install: with the reference agent, if the manifest requires it; with the stock agent,
 * unless the manifest forbids it.
 */
export function installsInUpdate(manifest: HandlerManifest, isStock: boolean): boolean {
  return updatesWithInstall(manifest) || (isStock && manifest.handlerManifest.updateMode === undefined);
}

/** Returns every extension as it will be declared, sorted by name. */
function goalsAfter(present: readonly ExtensionRow[], moves: readonly ExtensionMove[]): (Declared | ExtensionRow)[] {
  const goals = new Map<string, Declared | ExtensionRow>(present.map((row) => [row.name, row]));
  for (const { name, after } of moves) {
    if (after) goals.set(name, after);
    else goals.delete(name);
  }
  return [...goals.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Returns the VM's other extensions in the order in which their commands run. */
export function otherExtensions(present: readonly ExtensionRow[], moves: readonly ExtensionMove[]): PlannedOther[] {
  const moved = new Map(moves.map((move) => [move.name, move]));
  const waiting = new Set<string>();
  return runOrder(goalsAfter(present, moves)).flatMap(({ name, dependsOn, state }) => {
    const waits = dependsOn.some((dependency) => waiting.has(dependency));
    if (waits || moved.get(name)?.effect === 'sequence') waiting.add(name);
    if (moved.has(name) || state === 'uninstall') return [];
    return [{ name, command: goalCommand(state), waits: waits && state === 'enabled' }];
  });
}
