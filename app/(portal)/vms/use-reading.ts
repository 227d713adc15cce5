'use client';

import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useTRPC, useTRPCClient } from '#app/_lib/trpc.tsx';
import type { FleetQuery } from './fleet-address.ts';
import { ageMs, type FirstPage, type FleetReading, forgetMs, isFirst } from './reading.ts';
import { blockKey, loadBlock } from './use-blocks.ts';
import { usePaced } from './use-paced.ts';

/** Minimum time in milliseconds between two updates of the counts, because a busy fleet changes many times a second. */
export const paceMs = 2_000;

export interface ReadingState {
  /** Undefined before the first response. */
  reading: FleetReading | undefined;
  /** Whether the snapshot belongs to an earlier query, because the snapshot for the new query is still loading. */
  isStale: boolean;
  error: unknown;
  errorAt: number;
  retry(): void;
  /** How many more VMs match now than in the snapshot; negative if fewer match. */
  waiting: number;
  /** Takes a new snapshot. */
  refresh(): void;
}

/** Loads a snapshot of the list: the number of matching VMs and the first rows. */
export function useReading(query: FleetQuery, first: FirstPage): ReadingState {
  const client = useTRPCClient();
  const queryClient = useQueryClient();
  const [epoch, setEpoch] = useState(0);
  const opening = useQuery({
    queryKey: ['fleet-reading', query, epoch],
    queryFn: async ({ signal }): Promise<FleetReading> => {
      const page = await loadBlock(client, queryClient, { query, epoch }, 0, signal);
      queryClient.setQueryData(blockKey({ query, epoch }, 0), page);
      return { query, epoch, total: Math.max(page.matching ?? 0, page.items.length) };
    },
    ...(isFirst({ query, epoch }, first) && {
      initialData: { query, epoch, total: Math.max(first.page.matching ?? 0, first.page.items.length) },
      initialDataUpdatedAt: first.at,
    }),
    placeholderData: keepPreviousData,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: forgetMs,
  });
  const waiting = useWaiting(opening.data, opening.dataUpdatedAt);
  return {
    reading: opening.data,
    isStale: opening.isPlaceholderData,
    // An error is shown only if there is no list to show.
    error: opening.data === undefined ? opening.error : null,
    errorAt: opening.errorUpdatedAt,
    retry: () => void opening.refetch(),
    waiting: opening.isPlaceholderData ? 0 : waiting,
    refresh: () => setEpoch((current) => current + 1),
  };
}

function useWaiting(reading: FleetReading | undefined, readAt: number): number {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const filter = reading?.query.filter ?? {};
  const paced = usePaced(paceMs);
  const now = useQuery({
    queryKey: [...trpc.fleet.count.queryKey(filter), reading?.epoch],
    queryFn: ({ queryKey }) => paced(queryKey, () => client.fleet.count.query(filter)),
    ...(reading && { initialData: { matching: reading.total }, initialDataUpdatedAt: readAt }),
    enabled: reading !== undefined,
    refetchInterval: ageMs,
    staleTime: ageMs,
    gcTime: 0,
  });
  return reading === undefined || now.data === undefined ? 0 : now.data.matching - reading.total;
}
