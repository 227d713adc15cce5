'use client';

import { useQuery } from '@tanstack/react-query';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { ageMs } from '../vm-data.ts';
import type { VmUnits } from './hook-entries.ts';

/** The units that the server read at `readAt` (milliseconds since 1970). */
export interface ReadUnits {
  data: VmUnits;
  readAt: number;
}

/** Loads the units of a VM. Machines that belong to no model have none, so nothing is loaded for them. */
export function useVmUnits(vmId: string, hasUnits: boolean, first?: ReadUnits) {
  const trpc = useTRPC();
  return useQuery({
    ...trpc.units.ofVm.queryOptions({ vmId }),
    ...(first && { initialData: first.data, initialDataUpdatedAt: first.readAt }),
    ...{ enabled: hasUnits, refetchInterval: ageMs, retry: false },
  });
}
