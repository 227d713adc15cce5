'use client';

import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type { inferOutput } from '@trpc/tanstack-react-query';
import { useDeferredValue } from 'react';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { canonical } from '../../vms/[vmId]/extensions/_editor/draft.ts';
import { type MatchesTarget, matchesQuery } from './matches-query.ts';

/** The matches that the page was loaded with, and the selection that they belong to. */
export interface LoadedMatches {
  of: MatchesTarget;
  list: inferOutput<ReturnType<typeof useTRPC>['fleet']['list']>;
}

/** Returns the number of VMs that the form's filter matches, before exceptions, and the first of them by name. */
export function useMatches(form: MatchesTarget, loaded: LoadedMatches | null) {
  const trpc = useTRPC();
  const { target, include } = form;
  const { input, isOpen } = matchesQuery({ target, include: useDeferredValue(include) });
  const isLoaded = loaded !== null && canonical(input) === canonical(matchesQuery(loaded.of).input);
  return useQuery({
    ...trpc.fleet.list.queryOptions(input),
    ...(isLoaded && { initialData: loaded.list }),
    enabled: isOpen,
    placeholderData: keepPreviousData,
    refetchInterval: 30_000,
  });
}
