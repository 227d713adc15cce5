'use client';

import { useQuery } from '@tanstack/react-query';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { ageMs } from '../vm-data.ts';

/**
 * Loads the queue of a VM. Live updates report changes, but not that the agent stops responding, so the queue is also
 * reloaded periodically.
 */
export function useQueue(vmId: string) {
  const trpc = useTRPC();
  return useQuery({ ...trpc.instanceViews.queue.queryOptions({ vmId }), refetchInterval: ageMs });
}
