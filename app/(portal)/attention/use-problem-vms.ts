'use client';

import { useInfiniteQuery } from '@tanstack/react-query';
import { useTRPC } from '#app/_lib/trpc.tsx';
import type { AttentionGroup } from '#server/domain/views/index.ts';
import { type AttentionVm, vmsAtOnce } from './attention-data.ts';

/** The loaded VMs of a problem, sorted by name. */
export interface ProblemVms {
  items: readonly AttentionVm[];
  isPending: boolean;
  isLoadingMore: boolean;
  hasMore: boolean;
  error: unknown;
  errorAt: Date;
  more(): Promise<unknown>;
  retry(): Promise<unknown>;
}

/** Loads the VMs of a problem, page by page. Loads nothing if `group` is undefined. */
export function useProblemVms(group: AttentionGroup | undefined): ProblemVms {
  const trpc = useTRPC();
  const list = useInfiniteQuery({
    ...trpc.attention.vms.infiniteQueryOptions(
      { key: group?.key ?? '', limit: vmsAtOnce },
      { getNextPageParam: (page) => page.nextCursor ?? undefined },
    ),
    enabled: group !== undefined,
  });
  return {
    items: list.data?.pages.flatMap(({ items }) => items) ?? [],
    isPending: list.isPending,
    isLoadingMore: list.isFetchingNextPage,
    hasMore: list.hasNextPage,
    error: list.data === undefined ? list.error : null,
    errorAt: new Date(list.errorUpdatedAt),
    more: list.fetchNextPage,
    retry: list.refetch,
  };
}
