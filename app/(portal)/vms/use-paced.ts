'use client';

import { hashKey, type QueryKey, useQueryClient } from '@tanstack/react-query';
import { useRef } from 'react';
import { Paced } from './paced.ts';

/**
 * For a query that a busy fleet calls for many times in a second: one reading at a time, and so far apart. Who asks
 * while it is under way gets what it brings, and it is read once more afterwards.
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
