'use client';

import type { QueryKey } from '@tanstack/react-query';
import { useMemo } from 'react';
import { useTRPC, useTRPCClient } from '#app/_lib/trpc.tsx';
import type { LogPage, LogPart } from '#app/(portal)/executions/execution-data.ts';
import type { LevelFilter, LogName } from './shown-log.ts';
import { windowRows } from './window-rows.ts';

interface Signal {
  signal?: AbortSignal;
}

/** How the rows of a log are loaded. The keys belong to the same procedures, so that live updates reload the rows. */
export interface LogCalls {
  rows(about: { row: number; count: number }, options?: Signal): Promise<LogPage>;
  filter(about: { level: LevelFilter; row: number }, options?: Signal): Promise<LogPart>;
  search(about: { q: string; row: number }, options?: Signal): Promise<{ found: number[]; next: number | null }>;
  windowKey(row: number): QueryKey;
  /** The beginning of the keys of all windows. */
  windowsKey(): QueryKey;
  levelKey(level: LevelFilter): QueryKey;
  errorKey(row: number): QueryKey;
  searchKey(q: string): QueryKey;
}

type Client = ReturnType<typeof useTRPCClient>;
type Proxy = ReturnType<typeof useTRPC>;

/** Returns the calls that load a log: those of executions, or those of runs of hooks. */
export function useLogCalls(name: LogName): LogCalls {
  const trpc = useTRPC();
  const client = useTRPCClient();
  return useMemo(
    () => (name.of === 'execution' ? callsOfExecution(trpc, client, name) : callsOfRun(trpc, client, name)),
    [trpc, client, name],
  );
}

function callsOfExecution(
  { executions: keys }: Proxy,
  { executions: calls }: Client,
  { of: _, ...name }: Extract<LogName, { of: 'execution' }>,
): LogCalls {
  return {
    rows: (about, options) => calls.log.query({ ...name, ...about }, options),
    filter: (about, options) => calls.filter.query({ ...name, ...about }, options),
    search: (about, options) => calls.search.query({ ...name, ...about }, options),
    windowKey: (row) => keys.log.queryKey({ ...name, row, count: windowRows }),
    windowsKey: () => keys.log.pathKey(),
    levelKey: (level) => keys.filter.infiniteQueryKey({ ...name, level }),
    errorKey: (row) => keys.filter.queryKey({ ...name, level: 'error', row }),
    searchKey: (q) => keys.search.infiniteQueryKey({ ...name, q }),
  };
}

function callsOfRun(
  { units: keys }: Proxy,
  { units: calls }: Client,
  { of: _, vmId, ...name }: Extract<LogName, { of: 'run' }>,
): LogCalls {
  return {
    rows: (about, options) => calls.log.query({ ...name, vmId, ...about }, options),
    filter: (about, options) => calls.filter.query({ ...name, ...about }, options),
    search: (about, options) => calls.search.query({ ...name, ...about }, options),
    windowKey: (row) => keys.log.queryKey({ ...name, vmId, row, count: windowRows }),
    windowsKey: () => keys.log.pathKey(),
    levelKey: (level) => keys.filter.infiniteQueryKey({ ...name, level }),
    errorKey: (row) => keys.filter.queryKey({ ...name, level: 'error', row }),
    searchKey: (q) => keys.search.infiniteQueryKey({ ...name, q }),
  };
}
