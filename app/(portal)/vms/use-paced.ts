'use client';

import { hashKey, type QueryKey, useQueryClient } from '@tanstack/react-query';
import { useRef } from 'react';
import { Paced } from './paced.ts';

/**
 * Returns a function that paces the loads of a query that a busy fleet invalidates many times a second. It starts loads
 * at least `apartMs` milliseconds apart. A request with the key of a load in progress joins that load, and one more
 * load follows.
 */
export function usePaced(apartMs: number): <T>(queryKey: QueryKey, read: () => Promise<T>) => Promise<T> {
  const queryClient = useQueryClient();
  const paced = useRef<Paced>(null);
  return (queryKey, read) => {
    paced.current ??= new Paced(apartMs);
    return paced.current.run(hashKey(queryKey), read, () => {
      void queryClient.invalidateQueries({ queryKey, exact: true });
    });
  };
}
