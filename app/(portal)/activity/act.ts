import type { inferRouterOutputs } from '@trpc/server';
import type { AppRouter } from '#server/trpc/root.ts';
import type { ActivityFilter } from './activity-address.ts';

export type ActivityPage = inferRouterOutputs<AppRouter>['activity']['list'];

/** An act as a list has it. */
export type Act = ActivityPage['items'][number];

/** Narrows the filter to what was pressed; absent: names do not narrow. */
export type OnFilter = ((more: ActivityFilter) => void) | undefined;
