'use client';

import { useInfiniteQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import type { LogCalls } from './log-calls.ts';
import type { LevelFilter } from './shown-log.ts';

/** Loads the rows of a log that a level filter selects, one page at a time. When `total` grows, loads the new rows. */
export function useLevel(calls: LogCalls, level: LevelFilter, total: number) {
  const query = useInfiniteQuery({
    queryKey: calls.levelKey(level),
    queryFn: ({ pageParam, signal }) => calls.filter({ level, row: pageParam }, { signal }),
    initialPageParam: 0,
    getNextPageParam: ({ next }) => next,
    // Rows never change, so loaded pages stay valid.
    staleTime: Number.POSITIVE_INFINITY,
    enabled: total > 0,
  });
  const { data, isFetching, isError, fetchNextPage } = query;
  const last = data?.pages.at(-1);
  const hasMore = last !== undefined && !last.isLast;
  const hasGrown = last?.isLast === true && last.next < total;
  useEffect(() => {
    if (hasGrown && !isFetching && !isError) void fetchNextPage();
  }, [hasGrown, isFetching, isError, fetchNextPage]);
  return {
    query,
    rows: data?.pages.flatMap((page) => page.rows) ?? [],
    /** Whether there are more rows to load. */
    hasMore,
    /** Loads the page that could not be loaded. */
    retry: () => (data === undefined ? query.refetch() : fetchNextPage()),
    /** Loads the next page, if there is one. */
    more: () => {
      if (hasMore && !isFetching && !isError) void fetchNextPage();
    },
  };
}
