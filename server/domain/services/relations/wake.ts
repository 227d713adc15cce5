import type { Transaction } from '#db/client.ts';
import { tell } from '#server/platform/wakes/index.ts';

/**
 * The channel of wake-ups about units: `r<relation>` after a relation moved, `v<vm>` after the revision of a VM's units
 * changed.
 */
export const unitsChannel = 'annex_units';

/** Wakes the polls of VMs after the commit: of those with units in a relation, and of those that are named. */
export async function tellUnits(
  tx: Transaction,
  { relations = [], vmIds = [] }: { relations?: readonly number[]; vmIds?: readonly string[] },
): Promise<void> {
  const payloads = [...relations.map((id) => `r${id}`), ...vmIds.map((id) => `v${id}`)];
  await tell(tx, unitsChannel, payloads);
}
