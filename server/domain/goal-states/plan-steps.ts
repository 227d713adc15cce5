import { and, eq } from 'drizzle-orm';
import { z } from 'zod';
import type { Transaction } from '#db/client.ts';
import { agents } from '#db/schema/index.ts';
import {
  compareVersions,
  goalCommand,
  type HandlerManifest,
  type HandlerStep,
  removalSteps,
  runOrder,
  updatesWithInstall,
  versionSteps,
} from '#protocol/index.ts';
import { count } from '#server/domain/answers.ts';
import { handlerVersion } from '#server/domain/packages/input.ts';
import type { Declared } from './declare.ts';
import type { ExtensionMove } from './evaluate.ts';
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
  /** Whether the extension depends, directly or not, on an extension whose handler runs. */
  waits: z.boolean(),
});
export type PlannedOther = z.infer<typeof plannedOther>;

/**
 * Returns the commands for one extension (docs/protocol.md, "What the reference agent does"), assuming that the
 * machine has reached its last delivered goal. `present` matters because other extensions of the handler share its
 * binaries.
 */
export function stepsOf(
  move: Pick<ExtensionMove, 'name' | 'current' | 'after' | 'version'>,
  present: readonly ExtensionRow[],
  isStock: boolean,
): PlannedStep[] {
  const { name, current, after } = move;
  if (!after) return [];
  if (after.state === 'uninstall') {
    const isShared = present.some(
      (row) => row.name !== name && row.handler === after.handler && row.everDelivered && row.state !== 'uninstall',
    );
    return removalSteps([after.version], { runs: true, isShared }).map(planned(after));
  }
  const steps = changeOf(move, after, present, isStock).filter(
    ({ command }) => command !== 'disable' || current?.everDelivered,
  );
  return [...steps, { command: goalCommand(after.state), version: after.version }].map(planned(after));
}

/**
 * Returns the commands that bring an extension's handler to its version. All extensions of a handler have the same
 * version.
 */
function changeOf(
  { name, current, version }: Pick<ExtensionMove, 'name' | 'current' | 'version'>,
  after: Declared,
  present: readonly ExtensionRow[],
  isStock: boolean,
): HandlerStep[] {
  const delivered = present.filter((row) => row.handler === after.handler && row.everDelivered);
  const known = current?.everDelivered ? current : delivered.find((row) => row.name !== name);
  // Versions are compared by value, because one version has several spellings.
  const isSame = known !== undefined && compareVersions(known.version, after.version) === 0;
  return versionSteps({
    version: after.version,
    installed: known === undefined ? [] : [isSame ? after.version : known.version],
    isUpdated: false,
    installsInUpdate: version !== null && installsInUpdate(version.manifest, isStock),
  });
}

/**
 * Whether an update also runs install: with the reference agent, if the manifest requires it; with the stock agent,
 * unless the manifest forbids it.
 */
export function installsInUpdate(manifest: HandlerManifest, isStock: boolean): boolean {
  return updatesWithInstall(manifest) || (isStock && manifest.handlerManifest.updateMode === undefined);
}

/** Whether the VM's agent is the stock agent. */
export async function hasStockAgent(tx: Transaction, vmId: string): Promise<boolean> {
  const rows = await tx
    .select({ vmId: agents.vmId })
    .from(agents)
    .where(and(eq(agents.vmId, vmId), eq(agents.kind, 'stock')));
  return rows.length > 0;
}

/**
 * Returns the commands for all changes, in the order in which the agent runs them: first removals, dependents before
 * what they depend on; then the others, dependencies first. Commands of a handler that several extensions share run
 * once.
 */
export function stepsOfAll(
  moves: readonly ExtensionMove[],
  present: readonly ExtensionRow[],
  isStock: boolean,
): PlannedStep[] {
  const changed = new Map(moves.filter(({ effect }) => effect !== 'none').map((move) => [move.name, move]));
  const goals = goalsAfter(present, moves);
  const order = runOrder(goals);
  const leaving = order.filter(({ state }) => state === 'uninstall').reverse();
  const staying = order.filter(({ state }) => state !== 'uninstall');
  const removals = leaving.flatMap(({ name, handler }, index) => {
    const after = changed.get(name)?.after;
    const isShared = [...leaving.slice(index + 1), ...staying].some((other) => other.handler === handler);
    return after ? removalSteps([after.version], { runs: true, isShared }).map(planned(after)) : [];
  });
  const seen = new Set<string>();
  const others = staying.flatMap(({ name, handler }, index) => {
    const move = changed.get(name);
    if (!move?.after) return [];
    const { after } = move;
    const last = planned(after)({ command: goalCommand(after.state), version: after.version });
    if (seen.has(handler)) return [last];
    seen.add(handler);
    // An extension that waits for a later one is not disabled before its handler is replaced.
    const before = staying.slice(0, index).map((other) => other.name);
    const known = goals.flatMap((other) => {
      const waits = other.state === 'enabled' && other.dependsOn.some((dependency) => !before.includes(dependency));
      const sharing = changed.get(other.name);
      return other.state !== 'uninstall' &&
        other.handler === handler &&
        !waits &&
        sharing?.after &&
        sharing.current?.everDelivered
        ? [sharing.after]
        : [];
    });
    const steps = changeOf(move, after, present, isStock).flatMap((step) =>
      step.command === 'disable' ? known.map((other) => planned(other)(step)) : [planned(after)(step)],
    );
    return [...steps, last];
  });
  return [...removals, ...others];
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

const planned =
  ({ name, timeouts }: Declared) =>
  ({ command, version }: Pick<HandlerStep, 'command' | 'version'>): PlannedStep => ({
    extension: name,
    command,
    version,
    seconds: timeouts[command],
  });

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
