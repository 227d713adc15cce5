import { and, eq } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { extensionPulse } from '#db/schema/index.ts';
import type { CommandName } from '#protocol/index.ts';
import type { ExtensionMove } from './evaluate.ts';
import { hasStockAgent, stepsOf } from './plan-steps.ts';
import type { ExtensionRow } from './publish.ts';

/**
 * Returns the commands that a new goal can cause, in order: first the commands of the previous goal that may still run,
 * then the planned ones.
 */
export async function commandsFor(
  tx: Transaction,
  vmId: string,
  move: ExtensionMove,
  present: readonly ExtensionRow[],
): Promise<CommandName[]> {
  const isStock = await hasStockAgent(tx, vmId);
  const planned = stepsOf(move, present, isStock).map(({ command }) => command);
  return move.current ? withPending(tx, move.current, planned) : planned;
}

/** Puts the previous goal's unfinished commands before the planned ones. */
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
