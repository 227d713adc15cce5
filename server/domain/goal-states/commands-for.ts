import { and, eq } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { extensionPulse } from '#db/schema/index.ts';
import type { CommandName } from '#protocol/index.ts';
import { hasStockAgent, stepsOf } from './plan-steps.ts';
import type { ExtensionRow } from './publish.ts';
import type { Move } from './weigh.ts';

/** The commands that a new goal may take, in order: those that are planned, and before them what is not through yet. */
export async function commandsFor(
  tx: Transaction,
  vmId: string,
  move: Move,
  present: readonly ExtensionRow[],
): Promise<CommandName[]> {
  const isStock = await hasStockAgent(tx, vmId);
  const planned = stepsOf(move, present, isStock).map(({ command }) => command);
  return move.current ? withPending(tx, move.current, planned) : planned;
}

/** Of a goal that is not concluded, a command may run just now, or have to run still. */
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
