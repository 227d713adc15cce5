import { and, eq } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { extensionPulse } from '#db/schema/index.ts';
import type { CommandName } from '#protocol/index.ts';
import type { Evaluation } from './move.ts';
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

/** Puts the previous goal's unfinished commands before the planned commands. */
export async function withPending(
  tx: Transaction,
  { vmId, name, sequenceNumber, commands }: ExtensionRow,
  planned: CommandName[],
): Promise<CommandName[]> {
  const [pulse] = await tx
    .select({ sequence: extensionPulse.statusSequence, concludedAt: extensionPulse.concludedAt })
    .from(extensionPulse)
    .where(and(eq(extensionPulse.vmId, vmId), eq(extensionPulse.name, name)));
  const isConcluded = pulse?.sequence === sequenceNumber && pulse.concludedAt !== null;
  const pending = isConcluded ? [] : (commands ?? []).filter((command) => !planned.includes(command));
  return [...pending, ...planned];
}
