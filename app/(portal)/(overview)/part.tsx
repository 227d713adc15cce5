'use client';

import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { QueryError } from '#app/_lib/query-error.tsx';
import { Skeleton } from '#app/_ui/skeleton.tsx';

export interface PartProps<Data> {
  query: Pick<UseQueryResult<Data, unknown>, 'data' | 'error' | 'errorUpdatedAt' | 'refetch'>;
  /** What did not happen where it failed. */
  failed: string;
  children(data: Data): ReactNode;
}

/** What a card shows: its data, an outline until it is there, or why it is not and a way to try again. */
export function Part<Data>({ query, failed, children }: PartProps<Data>) {
  if (query.data !== undefined) return children(query.data);
  if (query.error) {
    return (
      <QueryError title={failed} error={query.error} onRetry={query.refetch} at={new Date(query.errorUpdatedAt)} />
    );
  }
  return (
    <div aria-busy="true" className="grid gap-3 px-4 py-3">
      <Skeleton className="w-40" />
      <Skeleton className="w-56" />
    </div>
  );
}
