'use client';

import { useQuery } from '@tanstack/react-query';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { ageMs, type QueueDetails } from '../vm-data.ts';

/** A queue that the server rendered, and when it was read (milliseconds since 1970). */
export interface ReadQueue {
  data: QueueDetails;
  readAt: number;
}

/**
 * Loads the queue of a VM. Live updates report changes, but not that the agent stops responding, so the queue is also
 * reloaded periodically.
 */
export function useQueue(vmId: string, first?: ReadQueue) {
  const trpc = useTRPC();
  return useQuery({
    ...trpc.instanceViews.queue.queryOptions({ vmId }),
    ...(first === undefined ? {} : { initialData: first.data, initialDataUpdatedAt: first.readAt }),
    refetchInterval: ageMs,
  });
}
