'use client';

import { useQuery } from '@tanstack/react-query';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { ageMs } from '../vm-data.ts';
import { hookQueue } from './hook-entries.ts';

/** Loads the units of a VM. Machines that belong to no model have none, so nothing is loaded for them. */
export function useVmUnits(vmId: string, hasUnits: boolean) {
  const trpc = useTRPC();
  return useQuery({
    ...trpc.units.ofVm.queryOptions({ vmId }),
    ...{ enabled: hasUnits, refetchInterval: ageMs, retry: false },
  });
}

/** Returns the hooks in the queue of a VM; none while they are loading. */
export function useHookQueue(vmId: string, hasUnits: boolean) {
  return hookQueue(useVmUnits(vmId, hasUnits).data?.items ?? []);
}
