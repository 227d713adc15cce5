'use client';

import { type QueryClient, skipToken, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { useTRPC, useTRPCClient } from '#app/_lib/trpc.tsx';
import {
  ageMs,
  blockSize,
  type FirstPage,
  type FleetPage,
  type FleetReading,
  type FleetRow,
  forgetMs,
  isFirst,
  isShort,
} from './reading.ts';
import { usePaced } from './use-paced.ts';
import type { VisibleRows } from './use-window-rows.ts';

const none: readonly FleetRow[] = [];
/** Minimum time in milliseconds between two loads of the rows. A change must be visible within a second. */
const rowsPaceMs = 1_000;

export interface Blocks {
  rowAt(index: number): FleetRow | undefined;
  error: unknown;
  retry(): void;
}

export const blockKey = (reading: Omit<FleetReading, 'total'>, block: number) => [
  'fleet-block',
  reading.query,
  reading.epoch,
  block,
];

/**
 * Loads a block: from the cursor of the block before it if that block is loaded, otherwise from the index of its first
 * row.
 */
export async function loadBlock(
  client: ReturnType<typeof useTRPCClient>,
  queryClient: QueryClient,
  reading: Omit<FleetReading, 'total'>,
  block: number,
  signal: AbortSignal,
): Promise<FleetPage> {
  const before = queryClient.getQueryData<FleetPage>(blockKey(reading, block - 1));
  const place = before?.nextCursor ? { cursor: before.nextCursor } : { at: block * blockSize };
  const { filter, sort } = reading.query;
  const counted = block === 0;
  let page = await client.fleet.list.query({ ...filter, sort, limit: blockSize, counted, ...place }, { signal });
  while (page.nextCursor !== null && isShort(page)) {
    const rest = { limit: blockSize - page.items.length, cursor: page.nextCursor };
    const more = await client.fleet.list.query({ ...filter, sort, ...rest }, { signal });
    page = { ...page, items: [...page.items, ...more.items], nextCursor: more.nextCursor };
  }
  return page;
}

/**
 * Returns the visible rows and those around them, in blocks. During scrolling, loads only blocks next to a loaded
 * block.
 */
export function useBlocks(reading: FleetReading, visible: VisibleRows, first: FirstPage): Blocks {
  const queryClient = useQueryClient();
  const last = Math.ceil(reading.total / blockSize) - 1;
  const from = Math.max(0, Math.floor((visible.from - blockSize / 2) / blockSize));
  const to = Math.min(last, Math.floor((visible.to + blockSize / 2) / blockSize));
  const isHere = (block: number): boolean => queryClient.getQueryData(blockKey(reading, block)) !== undefined;
  // Each block keeps its slot while it is needed.
  const blockOf = (slot: number): number | undefined => {
    const block = from + ((slot - (from % slots) + slots) % slots);
    if (block > to) return undefined;
    return !visible.moving || [block, block - 1, block + 1].some(isHere) ? block : undefined;
  };
  const results = [
    useBlock(reading, blockOf(0), first),
    useBlock(reading, blockOf(1), first),
    useBlock(reading, blockOf(2), first),
    useBlock(reading, blockOf(3), first),
    useBlock(reading, blockOf(4), first),
  ];
  const rowAt = (index: number): FleetRow | undefined => {
    const block = Math.floor(index / blockSize);
    return blockOf(block % slots) === block ? results[block % slots]?.data?.items[index % blockSize] : undefined;
  };
  useFreshRows(reading, visible.moving ? none : rowsBetween(rowAt, visible));
  return {
    rowAt,
    error: results.find(({ error, data }) => error !== null && data === undefined)?.error ?? null,
    retry: () => {
      for (const result of results) if (result.error !== null) void result.refetch();
    },
  };
}

/** Maximum number of blocks that the tallest window spans, with half a block above and below it. */
const slots = 5;

function useBlock(reading: FleetReading, block: number | undefined, first: FirstPage) {
  const client = useTRPCClient();
  const queryClient = useQueryClient();
  return useQuery({
    queryKey: blockKey(reading, block ?? -1),
    queryFn: block === undefined ? skipToken : ({ signal }) => loadBlock(client, queryClient, reading, block, signal),
    ...(block === 0 && isFirst(reading, first) && { initialData: first.page, initialDataUpdatedAt: first.at }),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: forgetMs,
  });
}

function rowsBetween(rowAt: Blocks['rowAt'], { from, to }: VisibleRows): FleetRow[] {
  return Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => rowAt(from + index)).filter(
    (row) => row !== undefined,
  );
}

/** Reloads the visible rows when one of them changes, and periodically. Each row keeps its position. */
function useFreshRows(reading: FleetReading, rows: readonly FleetRow[]): void {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const client = useTRPCClient();
  const paced = usePaced(rowsPaceMs);
  const blocks = ['fleet-block', reading.query, reading.epoch];
  const asked = { vmIds: rows.map(({ id }) => id) };
  const { data, isFetchedAfterMount } = useQuery({
    queryKey: trpc.fleet.rows.queryKey(asked),
    queryFn: ({ queryKey }) => paced(queryKey, () => readRows(client, asked.vmIds)),
    enabled: rows.length > 0,
    initialData: { items: [...rows], leftOut: 0 },
    initialDataUpdatedAt: () => readAt(queryClient, blocks, rows),
    staleTime: ageMs,
    refetchInterval: ageMs,
    gcTime: 0,
  });
  const key = JSON.stringify(blocks);
  useEffect(() => {
    if (!isFetchedAfterMount) return;
    const freshOf = new Map(data.items.map((row) => [row.id, row]));
    queryClient.setQueriesData<FleetPage>({ queryKey: JSON.parse(key) }, (page) => {
      if (page === undefined || !page.items.some(({ id }) => freshOf.has(id))) return page;
      return { ...page, items: page.items.map((row) => freshOf.get(row.id) ?? row) };
    });
  }, [data, isFetchedAfterMount, key, queryClient]);
}

/** Loads these rows, with several requests if one response would be too large. */
export async function readRows(
  client: ReturnType<typeof useTRPCClient>,
  vmIds: readonly string[],
): Promise<{ items: FleetRow[]; leftOut: number }> {
  const { items, leftOut } = await client.fleet.rows.query({ vmIds: [...vmIds] });
  const last = items.at(-1);
  if (leftOut === 0 || last === undefined) return { items, leftOut };
  const rest = await readRows(client, vmIds.slice(vmIds.indexOf(last.id) + 1));
  return { items: [...items, ...rest.items], leftOut: rest.leftOut };
}

/** Returns when the oldest of these rows was loaded, in milliseconds since 1970. */
function readAt(queryClient: QueryClient, blocks: readonly unknown[], rows: readonly FleetRow[]): number {
  const ids = new Set(rows.map(({ id }) => id));
  const times = queryClient
    .getQueryCache()
    .findAll({ queryKey: blocks })
    .filter(({ state }) => (state.data as FleetPage | undefined)?.items.some(({ id }) => ids.has(id)))
    .map(({ state }) => state.dataUpdatedAt);
  return Math.min(...times, Date.now());
}
