'use client';

import { useQuery } from '@tanstack/react-query';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { ageMs } from '../vm-data.ts';

/** Loads the queue of a VM. Live updates report changes; whether the agent responds ages without a write. */
export function useQueue(vmId: string) {
  const trpc = useTRPC();
  return useQuery({ ...trpc.instanceViews.queue.queryOptions({ vmId }), refetchInterval: ageMs });
}
