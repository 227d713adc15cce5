'use client';

import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { QueryError } from '#app/_lib/query-error.tsx';
import { Skeleton } from '#app/_ui/skeleton.tsx';

export interface PartProps<Data> {
  query: Pick<UseQueryResult<Data, unknown>, 'data' | 'error' | 'errorUpdatedAt' | 'refetch'>;
  /** Title of the error. */
  failed: string;
  children(data: Data): ReactNode;
}

/** The contents of a card: its data, placeholders, or an error with a retry. */
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
