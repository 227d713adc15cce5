'use client';

import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useDeferredValue } from 'react';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { isFiltered } from '../../vms/fleet-address.ts';
import type { RolloutForm } from './rollout-form.ts';

/** Number of VMs in the sample. */
export const sampleSize = 10;

/** Returns the number of VMs that the form's filter matches, before exceptions, and the first of them by name. */
export function useMatches({ target, include }: Pick<RolloutForm, 'target' | 'include'>) {
  const trpc = useTRPC();
  const filter = useDeferredValue(target === 'all' ? {} : include);
  return useQuery({
    ...trpc.fleet.list.queryOptions({ ...filter, sort: 'name', limit: sampleSize, counted: true }),
    enabled: target === 'all' || (target === 'filter' && isFiltered(filter)),
    placeholderData: keepPreviousData,
    refetchInterval: 30_000,
  });
}
