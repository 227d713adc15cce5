import type { inferRouterOutputs } from '@trpc/server';
import type { AppRouter } from '#server/trpc/root.ts';
import type { FleetQuery } from './fleet-address.ts';

export type { FleetFacet, FleetSummary } from '#server/domain/fleet/index.ts';
export type { FleetRow } from '#server/domain/views/index.ts';

export type FleetPage = inferRouterOutputs<AppRouter>['fleet']['list'];

/** Rows that are loaded at once. */
export const blockSize = 50;
/** Rows that were not in sight for so long leave the memory. */
export const forgetMs = 20_000;
/** Health ages while nobody writes anything, so what is in sight is read again now and then. */
export const ageMs = 15_000;

/** The first rows as the server rendered them. */
export interface FirstPage {
  query: FleetQuery;
  page: FleetPage;
  /** Milliseconds since 1970. */
  at: number;
}

/** One reading of the list: which VMs, in which order. It stays as it is until the reader asks for another. */
export interface FleetReading {
  query: FleetQuery;
  epoch: number;
  total: number;
}

/** Whether a page lacks rows of its block, because it would have been too large. */
export const isShort = ({ items, nextCursor }: FleetPage): boolean => items.length < blockSize && nextCursor !== null;

/** Whether a reading is the one that the server rendered. */
export function isFirst({ query, epoch }: Omit<FleetReading, 'total'>, first: FirstPage): boolean {
  return !isShort(first.page) && epoch === 0 && JSON.stringify(query) === JSON.stringify(first.query);
}
