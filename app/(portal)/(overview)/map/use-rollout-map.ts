'use client';

import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type { inferRouterOutputs } from '@trpc/server';
import { useEffect } from 'react';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useThrottledReload } from '#app/_lib/use-throttled-reload.ts';
import type { AppRouter } from '#server/trpc/root.ts';
import type { FleetMap } from './groups.ts';

/** The states of VMs in a rollout, at the places of the fleet map. */
export type MapStates = inferRouterOutputs<AppRouter>['overview']['mapOfRollout'];

export interface RolloutColors {
  /** Null until it is loaded for this fleet map, or if the map shows health. */
  colors: MapStates | null;
  isPending: boolean;
  error: unknown;
  failedAt: Date;
  retry(): void;
}

/** Loads the states of VMs in a rollout, by which the map is colored; nothing without a rollout. */
export function useRolloutMap(
  map: FleetMap | undefined,
  rollout: string | undefined,
  onStale: () => void,
): RolloutColors {
  const trpc = useTRPC();
  const isWanted = map !== undefined && rollout !== undefined;
  const input = { rollout: rollout ?? '', groupBy: map?.groupBy ?? 'none', revision: map?.revision ?? '' };
  const found = useQuery({
    ...trpc.overview.mapOfRollout.queryOptions(input),
    placeholderData: keepPreviousData,
    enabled: false,
    retry: false,
  });
  const { refetch } = found;
  useThrottledReload({
    queryKey: trpc.overview.mapOfRollout.queryKey(input),
    refetch: isWanted ? refetch : async () => undefined,
    agesMs: 60_000,
    pauseMs: 5_000,
  });
  const isStale = isWanted && found.data?.revision === null;
  useEffect(() => {
    if (isStale) onStale();
  }, [isStale, onStale]);
  const isCurrent = isWanted && found.data?.revision === map.revision && found.data.rollout.id === rollout;
  return {
    colors: (isCurrent && found.data) || null,
    isPending: isWanted && found.isFetching && !isCurrent,
    error: isWanted && !isCurrent ? found.error : null,
    failedAt: new Date(found.errorUpdatedAt),
    retry: () => void refetch(),
  };
}
