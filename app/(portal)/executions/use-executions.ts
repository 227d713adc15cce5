'use client';

import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { useTRPC } from '#app/_lib/trpc.tsx';
import type { ExecutionState } from '#protocol/executions/states.ts';
import { type ExecutionOutcome, type ExecutionPage, pageSize, type ShownExecutionGroup } from './execution-data.ts';

type Cancellation = NonNullable<ExecutionOutcome['cancellation']>;

/** Which executions to list. */
export interface ExecutionQuery {
  vmId?: string;
  ended?: boolean;
  state?: ExecutionState;
  cancellation?: Cancellation;
  code?: number;
  by?: string;
  runbook?: string;
  rollout?: string;
  q?: string;
  /** Only executions of one plan with one outcome. */
  group?: Omit<ShownExecutionGroup & ExecutionOutcome, 'count' | 'newestAt' | 'outcomes'>;
}

/** The first page, if the server rendered it, and when it was read (milliseconds since 1970). */
export interface FirstExecutions {
  page: ExecutionPage;
  readAt: number;
}

/** Loads executions, newest first, in pages. Live updates reload the pages that are shown. */
export function useExecutions(query: ExecutionQuery, first?: FirstExecutions) {
  const trpc = useTRPC();
  const list = useInfiniteQuery({
    ...trpc.executions.list.infiniteQueryOptions(
      { ...query, limit: pageSize },
      { getNextPageParam: (page) => page.nextCursor ?? undefined },
    ),
    ...(first !== undefined && {
      initialData: { pages: [first.page], pageParams: [null] },
      initialDataUpdatedAt: first.readAt,
    }),
    placeholderData: keepPreviousData,
  });
  return { list, executions: list.data?.pages.flatMap((page) => page.items) ?? [] };
}
