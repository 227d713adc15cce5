import { useQuery } from '@tanstack/react-query';
import type { LogPart, LogRow } from '#app/(portal)/executions/execution-data.ts';
import { namesError } from '#protocol/error-line.ts';
import type { LogCalls } from './log-calls.ts';

/** Loads the first error of a log at or after a row; none if `row` is null. */
export function useFirstError(calls: LogCalls, row: number | null, first: LogPart | undefined): LogRow | undefined {
  const { data } = useQuery({
    queryKey: calls.errorKey(row ?? 0),
    queryFn: ({ signal }) => calls.filter({ level: 'error', row: row ?? 0 }, { signal }),
    initialData: first,
    enabled: row !== null,
    staleTime: Number.POSITIVE_INFINITY,
  });
  return row === null ? undefined : firstErrorIn(data?.rows ?? []);
}

/**
 * Returns the first row that names an error; otherwise the first row. Hooks write warnings to stderr too, and all of
 * stderr has the level of errors.
 */
export const firstErrorIn = (rows: readonly LogRow[]): LogRow | undefined =>
  rows.find(({ kind, text }) => kind !== 'out' || namesError(text)) ?? rows[0];
