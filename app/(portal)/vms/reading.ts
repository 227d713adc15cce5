import type { inferRouterOutputs } from '@trpc/server';
import type { AppRouter } from '#server/trpc/root.ts';
import type { FleetQuery } from './fleet-address.ts';

export type { FleetFacet, FleetSummary } from '#server/domain/fleet/index.ts';
export type { FleetRow } from '#server/domain/views/index.ts';

export type FleetPage = inferRouterOutputs<AppRouter>['fleet']['list'];

/** Number of rows per request. */
export const blockSize = 50;
/** Milliseconds after which rows that are no longer visible are dropped. */
export const forgetMs = 20_000;
/** Interval in milliseconds at which visible rows are reloaded, because time alone can change health. */
export const ageMs = 15_000;

/** The first rows, as the server rendered them. */
export interface FirstPage {
  query: FleetQuery;
  page: FleetPage;
  /** Milliseconds since 1970. */
  at: number;
}

/** A snapshot of the list: its query, how many times the reader refreshed it (`epoch`), and how many VMs matched. */
export interface FleetReading {
  query: FleetQuery;
  epoch: number;
  total: number;
}

/** Whether a page has fewer rows than a block, because the response would have been too large. */
export const isShort = ({ items, nextCursor }: FleetPage): boolean => items.length < blockSize && nextCursor !== null;

/** Whether the server rendered this snapshot, with a complete first block. */
export function isFirst({ query, epoch }: Omit<FleetReading, 'total'>, first: FirstPage): boolean {
  return !isShort(first.page) && epoch === 0 && JSON.stringify(query) === JSON.stringify(first.query);
}
