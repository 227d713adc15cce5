'use client';

import { hashKey, type QueryKey, useQueryClient } from '@tanstack/react-query';
import { useEffect, useEffectEvent } from 'react';

export interface ThrottledReload {
  /** The key of the query. The query must have `enabled: false`, so that nothing else loads it. */
  queryKey: QueryKey;
  refetch(options: { cancelRefetch: boolean }): Promise<unknown>;
  /**
   * Interval in milliseconds at which the query is reloaded even without changes, because time alone can change the
   * data.
   */
  agesMs: number;
  /** Minimum time between two loads in milliseconds, however often data changes; by default, a second. */
  pauseMs?: number;
}

/**
 * Loads a query about the whole fleet at most once per `pauseMs`. A busy fleet causes several changes a second, each of
 * which would otherwise cancel the load in progress. A hidden tab loads when it becomes visible.
 */
export function useThrottledReload({ queryKey, refetch, agesMs, pauseMs = 1_000 }: ThrottledReload): void {
  const client = useQueryClient();
  const hash = hashKey(queryKey);
  const read = useEffectEvent(() => refetch({ cancelRefetch: false }));
  useEffect(() => {
    const cache = client.getQueryCache();
    let last = Number.NEGATIVE_INFINITY;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isReading = false;
    let isAsked = false;
    let isOver = false;
    const ask = (): void => {
      if (isReading || document.visibilityState === 'hidden') isAsked = true;
      else timer ??= setTimeout(begin, Math.max(0, last + pauseMs - performance.now()));
    };
    const begin = async (): Promise<void> => {
      timer = undefined;
      last = performance.now();
      isReading = true;
      isAsked = false;
      await read();
      isReading = false;
      if (isAsked && !isOver) ask();
    };
    const state = cache.get(hash)?.state;
    if (state?.data === undefined || state.isInvalidated) ask();
    const unsubscribe = cache.subscribe((event) => {
      if (event.type === 'updated' && event.action.type === 'invalidate' && event.query.queryHash === hash) ask();
    });
    const ages = setInterval(ask, agesMs);
    const onSeen = (): void => {
      if (isAsked && !isReading) ask();
    };
    document.addEventListener('visibilitychange', onSeen);
    return () => {
      isOver = true;
      clearTimeout(timer);
      clearInterval(ages);
      document.removeEventListener('visibilitychange', onSeen);
      unsubscribe();
    };
  }, [client, hash, agesMs, pauseMs]);
}
