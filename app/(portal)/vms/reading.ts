import type { inferRouterOutputs } from '@trpc/server';
import type { AppRouter } from '#server/trpc/root.ts';
import type { FleetQuery } from './fleet-address.ts';

export type { FleetFacet, FleetSummary } from '#server/domain/fleet/index.ts';
export type { FleetRow } from '#server/domain/views/index.ts';

export type FleetPage = inferRouterOutputs<AppRouter>['fleet']['list'];

/** Rows that are loaded per request. */
export const blockSize = 50;
/** Rows out of sight for this long are dropped. */
export const forgetMs = 20_000;
/** Health ages without a write, so visible rows are loaded again from time to time. */
export const ageMs = 15_000;

/** The first rows, as the server rendered them. */
export interface FirstPage {
  query: FleetQuery;
  page: FleetPage;
  /** Milliseconds since 1970. */
  at: number;
}

/** A snapshot of the list: its VMs and their order. It stays until the reader refreshes. */
export interface FleetReading {
  query: FleetQuery;
  epoch: number;
  total: number;
}

/** Whether a page lacks rows of its block, because it would have been too large. */
export const isShort = ({ items, nextCursor }: FleetPage): boolean => items.length < blockSize && nextCursor !== null;

/** Whether this is the reading that the server rendered. */
export function isFirst({ query, epoch }: Omit<FleetReading, 'total'>, first: FirstPage): boolean {
  return !isShort(first.page) && epoch === 0 && JSON.stringify(query) === JSON.stringify(first.query);
}
