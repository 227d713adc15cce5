import { and, eq } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { extensionPulse } from '#db/schema/index.ts';
import type { CommandName } from '#protocol/index.ts';
import type { Evaluation } from './move.ts';
import { ofVms } from './of-vms.ts';
import { stepsByExtension } from './plan-steps.ts';
import type { ExtensionRow } from './publish.ts';

/**
 * Returns the commands that the new goals of a change can cause, by extension, in order: first the commands of the
 * previous goal that may still run, then the planned commands. Includes only extensions that get a new sequence number
 * and are not being uninstalled.
 */
export async function commandsFor(
  tx: Transaction,
  { moves, present, isStock }: Evaluation,
): Promise<Map<string, CommandName[]>> {
  const steps = stepsByExtension(moves, present, isStock);
  const commands = new Map<string, CommandName[]>();
  for (const { name, current, after, effect } of moves) {
    if (effect !== 'sequence' || after === null || after.state === 'uninstall') continue;
    const planned = steps.get(name) ?? [];
    commands.set(name, current ? await withPending(tx, current, planned) : planned);
  }
  return commands;
}

/** The commands that the uninstall of an extension can cause. */
export const uninstallCommands: readonly CommandName[] = ['disable', 'uninstall'];

/**
 * Returns the commands of many VMs' changes, by VM and extension, as `commandsFor` does, but also those of uninstalls.
 * Runs one statement.
 */
export async function commandsForMany(
  tx: Transaction,
  evaluations: ReadonlyMap<string, Evaluation>,
): Promise<Map<string, Map<string, CommandName[]>>> {
  const pulses = await loadPulses(tx, [...evaluations.keys()]);
  return new Map(
    [...evaluations].map(([vmId, { moves, present, isStock }]) => {
      const steps = stepsByExtension(moves, present, isStock);
      const commands = new Map<string, CommandName[]>();
      for (const { name, current, after, effect } of moves) {
        if (effect !== 'sequence' || after === null) continue;
        const planned = after.state === 'uninstall' ? uninstallCommands : (steps.get(name) ?? []);
        const pulse = pulses.get(vmId)?.find((each) => each.name === name);
        commands.set(name, current ? pendingBefore(current, pulse, planned) : [...planned]);
      }
      return [vmId, commands];
    }),
  );
}

/** Puts the previous goal's unfinished commands before the planned commands. */
export async function withPending(
  tx: Transaction,
  row: ExtensionRow,
  planned: readonly CommandName[],
): Promise<CommandName[]> {
  const pulses = await loadPulses(tx, [row.vmId], row.name);
  return pendingBefore(row, pulses.get(row.vmId)?.[0], planned);
}

interface Pulse {
  vmId: string;
  name: string;
  sequence: number | null;
  concludedAt: Date | null;
}

/** Loads which operations concluded, by VM. */
async function loadPulses(tx: Transaction, vmIds: readonly string[], name?: string): Promise<Map<string, Pulse[]>> {
  const { vmId, statusSequence: sequence, concludedAt } = extensionPulse;
  const pulses = await tx
    .select({ vmId, name: extensionPulse.name, sequence, concludedAt })
    .from(extensionPulse)
    .where(and(ofVms(vmId, vmIds), name === undefined ? undefined : eq(extensionPulse.name, name)));
  return Map.groupBy(pulses, (pulse) => pulse.vmId);
}

function pendingBefore(
  { sequenceNumber, commands }: ExtensionRow,
  pulse: Pulse | undefined,
  planned: readonly CommandName[],
): CommandName[] {
  const isConcluded = pulse?.sequence === sequenceNumber && pulse.concludedAt !== null;
  const pending = isConcluded ? [] : (commands ?? []).filter((command) => !planned.includes(command));
  return [...pending, ...planned];
}
