'use client';

import { useQueries, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import type { LogPage, LogRow } from '#app/(portal)/executions/execution-data.ts';
import type { LogCalls } from './log-calls.ts';
import { windowRows } from './window-rows.ts';

/** How long a window that is not on screen is kept, in milliseconds. */
const keptMs = 60_000;
/** Limits for the windows that are kept although they are not on screen. */
const maxKept = { windows: 20, characters: 8 * 1024 * 1024 };

/** The first window, if the server rendered it at `readAt` (milliseconds since 1970). */
export interface FirstWindow {
  page: LogPage;
  readAt: number;
}

/** Returns the number of the window that contains a row. */
export const windowOf = (row: number): number => Math.floor(row / windowRows);

/** Loads rows, one window at a time. If rows are long, a response has fewer rows than requested. */
export async function readRows(
  calls: LogCalls,
  { first, count, signal }: { first: number; count: number; signal?: AbortSignal },
): Promise<LogPage> {
  const rows: LogRow[] = [];
  for (;;) {
    const input = { row: first + rows.length, count: Math.min(windowRows, count - rows.length) };
    const page = await calls.rows(input, signal && { signal });
    rows.push(...page.rows);
    if (page.rows.length === 0 || rows.length >= count || first + rows.length >= page.total) {
      return { total: page.total, missing: page.missing, rows };
    }
  }
}

/**
 * Loads windows, given by their numbers in ascending order. Live updates reload the windows and the number of rows.
 */
export function useLog(calls: LogCalls, windows: readonly number[], start: FirstWindow | undefined) {
  const queries = useQueries({
    queries: windows
      .map((window) => window * windowRows)
      .map((first) => ({
        queryKey: calls.windowKey(first),
        queryFn: ({ signal }: { signal: AbortSignal }) => readRows(calls, { first, count: windowRows, signal }),
        gcTime: keptMs,
        ...(first === 0 && isWhole(start) && { initialData: start.page, initialDataUpdatedAt: start.readAt }),
      })),
  });
  useForgetWindows(calls, windows);
  const loaded = queries.map(({ data }) => data);
  // Keeps the last known number of rows while the windows on screen are loading.
  const [known, setKnown] = useState<number>();
  const total = loaded.reduce((most, page) => Math.max(most, page?.total ?? 0), known ?? 0);
  const isLoaded = known !== undefined || loaded.some((page) => page !== undefined);
  if (isLoaded && total !== known) setKnown(total);
  const newest = loaded.findLast((page) => page !== undefined);
  const failed = queries.find(({ error, data }) => error !== null && data === undefined);
  return {
    total,
    /** The number of bytes that have not arrived; undefined while it is loading. */
    missing: newest?.missing,
    /** Whether any rows have been loaded. */
    isLoaded,
    failed,
    /** Returns a row; undefined while it is loading. */
    rowAt: (row: number): LogRow | undefined => loaded[windows.indexOf(windowOf(row))]?.rows[row % windowRows],
  };
}

/** Whether the server could read all rows of the window. */
const isWhole = (start: FirstWindow | undefined): start is FirstWindow =>
  start !== undefined && start.page.rows.length === Math.min(windowRows, start.page.total);

/** Removes hidden windows beyond `maxKept` from the cache, because a long log would take too much memory. */
function useForgetWindows(calls: LogCalls, shown: readonly number[]): void {
  const cache = useQueryClient().getQueryCache();
  // biome-ignore lint/correctness/useExhaustiveDependencies: when other windows are shown, more windows are hidden
  useEffect(() => {
    const hidden = cache
      .findAll({ queryKey: calls.windowsKey(), type: 'inactive' })
      .toSorted((a, b) => b.state.dataUpdatedAt - a.state.dataUpdatedAt);
    let characters = 0;
    for (const [index, query] of hidden.entries()) {
      for (const { text } of (query.state.data as LogPage | undefined)?.rows ?? []) characters += text.length;
      if (index >= maxKept.windows || characters > maxKept.characters) cache.remove(query);
    }
  }, [cache, calls, shown]);
}
