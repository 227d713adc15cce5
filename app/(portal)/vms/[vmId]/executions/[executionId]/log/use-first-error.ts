'use client';

import { useQuery } from '@tanstack/react-query';
import { useTRPC } from '#app/_lib/trpc.tsx';
import {
  type LogPart,
  type LogRow,
  placeOfError,
  type ShownExecutionDetails,
} from '#app/(portal)/executions/execution-data.ts';

/** Loads the first error of an execution that ended without success. If a call failed, the search starts at that call. */
export function useFirstError(execution: ShownExecutionDetails, first: LogPart | undefined): LogRow | undefined {
  const trpc = useTRPC();
  const row = placeOfError(execution);
  const { data } = useQuery({
    ...trpc.executions.filter.queryOptions({
      vmId: execution.vmId,
      executionId: execution.id,
      level: 'error',
      row: row ?? 0,
    }),
    initialData: first,
    enabled: row !== null,
    staleTime: Number.POSITIVE_INFINITY,
  });
  return row === null ? undefined : data?.rows[0];
}
