'use client';

import { useQuery } from '@tanstack/react-query';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useThrottledReload } from '#app/_lib/use-throttled-reload.ts';
import type { ReadMemberships } from './memberships.ts';

/** Loads the rollouts of a VM. Open rollouts change often, so they are reloaded at most every two seconds. */
export function useMemberships(vmId: string, first: ReadMemberships | undefined) {
  const trpc = useTRPC();
  const list = useQuery({
    ...trpc.rollouts.ofVm.queryOptions({ vmId }),
    ...(first === undefined ? {} : { initialData: first.data, initialDataUpdatedAt: first.readAt }),
    enabled: false,
  });
  useThrottledReload({
    queryKey: trpc.rollouts.ofVm.queryKey({ vmId }),
    refetch: list.refetch,
    agesMs: 30_000,
    pauseMs: 2_000,
  });
  return list;
}
