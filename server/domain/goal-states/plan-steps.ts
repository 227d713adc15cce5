import { and, eq } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { agents } from '#db/schema/index.ts';
import { compareVersions, type HandlerManifest, runOrder, updatesWithInstall } from '#protocol/index.ts';
import type { ExtensionRow } from './publish.ts';
import type { Move } from './weigh.ts';

/** A command that the agent runs. */
export interface PlannedStep {
  extension: string;
  command: 'install' | 'update' | 'enable' | 'disable' | 'uninstall';
  /** The version whose command it is. */
  version: string;
  /** Seconds after which it is ended. */
  seconds: number;
}

/** An extension that is declared as before: its command runs again under the same sequence number. */
export interface PlannedOther {
  name: string;
  command: 'enable' | 'disable';
  /** It depends on an extension whose handler runs, directly or through others. */
  waits: boolean;
}

/**
 * The commands for one extension (docs/protocol.md, "How a handler is brought to its goal"), if the machine has come
 * to what was delivered to it. Others of the same handler share its binaries.
 */
export function stepsOf(
  { name, current, after, version }: Pick<Move, 'name' | 'current' | 'after' | 'version'>,
  present: readonly ExtensionRow[],
  isStock: boolean,
): PlannedStep[] {
  if (!after) return [];
  const sharing = present.filter((row) => row.name !== name && row.handler === after.handler && row.everDelivered);
  const step = (command: PlannedStep['command'], version: string): PlannedStep => ({
    extension: name,
    command,
    version,
    seconds: after.timeouts[command],
  });
  if (after.state === 'uninstall') {
    const stays = sharing.some((row) => row.state !== 'uninstall');
    return [step('disable', after.version), ...(stays ? [] : [step('uninstall', after.version)])];
  }
  const last = step(after.state === 'enabled' ? 'enable' : 'disable', after.version);
  const there = current?.everDelivered ? current.version : sharing[0]?.version;
  if (there === undefined) return [step('install', after.version), last];
  const order = compareVersions(after.version, there);
  if (order === 0) return [last];
  const disable = current?.everDelivered ? [step('disable', there)] : [];
  const installs = version !== null && installsInUpdate(version.manifest, isStock);
  const again = installs ? [step('install', after.version)] : [];
  return order > 0
    ? [...disable, step('update', after.version), step('uninstall', there), ...again, last]
    : [...disable, step('uninstall', there), step('install', after.version), last];
}

/** The reference agent installs again where the manifest asks for it, the stock agent unless the manifest forbids it. */
function installsInUpdate(manifest: HandlerManifest, isStock: boolean): boolean {
  return updatesWithInstall(manifest) || (isStock && manifest.handlerManifest.updateMode === undefined);
}

/** Whether the VM's agent is the stock Azure Linux agent. */
export async function hasStockAgent(tx: Transaction, vmId: string): Promise<boolean> {
  const rows = await tx
    .select({ vmId: agents.vmId })
    .from(agents)
    .where(and(eq(agents.vmId, vmId), eq(agents.kind, 'stock')));
  return rows.length > 0;
}

/** The commands for all that changes. What is done to a handler's binaries is done once for all of its extensions. */
export function stepsOfAll(moves: readonly Move[], present: readonly ExtensionRow[], isStock: boolean): PlannedStep[] {
  const seen = new Set<string>();
  return moves
    .filter(({ effect }) => effect !== 'none')
    .flatMap((move) => {
      const handler = (move.after ?? move.current)?.handler;
      return stepsOf(move, present, isStock).filter(({ command, version }) => {
        if (command === 'enable' || command === 'disable') return true;
        const key = `${handler} ${command} ${version}`;
        return !seen.has(key) && seen.add(key);
      });
    });
}

/** The other extensions of the VM in the order in which they run. */
export function otherExtensions(present: readonly ExtensionRow[], moves: readonly Move[]): PlannedOther[] {
  const moved = new Map(moves.map((move) => [move.name, move]));
  const rows = new Map(present.map((row) => [row.name, row]));
  const names = [...new Set([...rows.keys(), ...moved.keys()])].sort();
  const dependents = names.map((name) => {
    const move = moved.get(name);
    return { name, dependsOn: (move ? move.after : rows.get(name))?.dependsOn ?? [] };
  });
  const waiting = new Set<string>();
  return runOrder(dependents).flatMap(({ name, dependsOn }) => {
    const waits = dependsOn.some((dependency) => waiting.has(dependency));
    if (waits || moved.get(name)?.effect === 'sequence') waiting.add(name);
    const row = rows.get(name);
    if (!row || moved.has(name) || row.state === 'uninstall') return [];
    const isOn = row.state === 'enabled';
    return [{ name, command: isOn ? 'enable' : 'disable', waits: isOn && waits }];
  });
}
