'use client';

import { hookQueue } from './hook-entries.ts';
import { useVmUnits } from './use-vm-units.ts';

/** Returns the hooks in the queue of a VM; none while they are loading. */
export function useHookQueue(vmId: string, hasUnits: boolean) {
  return hookQueue(useVmUnits(vmId, hasUnits).data?.items ?? []);
}
