'use client';

import { useQueries } from '@tanstack/react-query';
import { useState } from 'react';
import { useTRPC, useTRPCClient } from '#app/_lib/trpc.tsx';
import type { LogPage, LogRow } from '#app/(portal)/executions/execution-data.ts';
import { windowRows } from './window-rows.ts';

/** How long a window that is not on screen is kept, in milliseconds. */
const keptMs = 60_000;

/** The first window, if the server rendered it at `readAt` (milliseconds since 1970). */
export interface FirstWindow {
  page: LogPage;
  readAt: number;
}

export interface LogInput {
  vmId: string;
  executionId: string;
}

type Client = ReturnType<typeof useTRPCClient>;

/** Loads rows, one window at a time. If rows are long, a response has fewer rows than requested. */
export async function readRows(
  client: Client,
  about: LogInput,
  { first, count, signal }: { first: number; count: number; signal?: AbortSignal },
): Promise<LogPage> {
  const rows: LogRow[] = [];
  for (;;) {
    const input = { ...about, row: first + rows.length, count: Math.min(windowRows, count - rows.length) };
    const page = await client.executions.log.query(input, signal && { signal });
    rows.push(...page.rows);
    if (page.rows.length === 0 || rows.length >= count || first + rows.length >= page.total) {
      return { total: page.total, rows };
    }
  }
}

/** Loads the windows that contain the rows on screen. Live updates load them again, and with them the number of rows. */
export function useLog(about: LogInput, rows: { first: number; last: number }, start: FirstWindow | undefined) {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const [from, to] = [Math.floor(rows.first / windowRows), Math.floor(Math.max(rows.first, rows.last) / windowRows)];
  const windows = Array.from({ length: to - from + 1 }, (_, index) => (from + index) * windowRows);
  const queries = useQueries({
    queries: windows.map((first) => ({
      queryKey: trpc.executions.log.queryKey({ ...about, row: first, count: windowRows }),
      queryFn: ({ signal }: { signal: AbortSignal }) => readRows(client, about, { first, count: windowRows, signal }),
      gcTime: keptMs,
      ...(first === 0 && isWhole(start) && { initialData: start.page, initialDataUpdatedAt: start.readAt }),
    })),
  });
  const loaded = queries.map(({ data }) => data);
  // While the windows on screen are loading, the number of rows remains known.
  const [known, setKnown] = useState<number>();
  const total = loaded.reduce((most, page) => Math.max(most, page?.total ?? 0), known ?? 0);
  const isLoaded = known !== undefined || loaded.some((page) => page !== undefined);
  if (isLoaded && total !== known) setKnown(total);
  const failed = queries.find(({ error, data }) => error !== null && data === undefined);
  return {
    total,
    /** Whether any rows have been loaded. */
    isLoaded,
    failed,
    /** Returns a row; undefined while it is loading. */
    rowAt: (row: number): LogRow | undefined => {
      const index = Math.floor(row / windowRows) - from;
      return loaded[index]?.rows[row % windowRows];
    },
  };
}

/** Whether the server could read all rows of the window. */
const isWhole = (start: FirstWindow | undefined): start is FirstWindow =>
  start !== undefined && start.page.rows.length === Math.min(windowRows, start.page.total);
