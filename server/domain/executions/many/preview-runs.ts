import type { Transaction } from '#db/client.ts';
import type { ErrorCode } from '#server/domain/error.ts';
import { readLiveHeads } from '#server/domain/goal-states/index.ts';
import { findMachines, refusalOf } from './fit.ts';
import type { RunOrder } from './run-order.ts';

/** What queuing an order for a VM would do. */
export type RunPreview = { outcome: 'run' } | { outcome: 'refused'; code: ErrorCode } | { outcome: 'gone' };

/** Returns what the order would do on each of these VMs. The number of statements does not depend on their number. */
export async function previewRuns(
  tx: Transaction,
  order: RunOrder,
  vmIds: readonly string[],
): Promise<Map<string, RunPreview>> {
  const machineOf = await findMachines(tx, vmIds);
  const live = new Set((await readLiveHeads(tx, vmIds)).map(({ vmId }) => vmId));
  return new Map(
    vmIds.map((vmId): [string, RunPreview] => {
      if (!live.has(vmId)) return [vmId, { outcome: 'gone' }];
      const code = refusalOf(order, machineOf(vmId));
      return [vmId, code === null ? { outcome: 'run' } : { outcome: 'refused', code }];
    }),
  );
}
