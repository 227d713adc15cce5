import type { inferRouterOutputs } from '@trpc/server';
import type { AppRouter } from '#server/trpc/root.ts';

/** What the overview's parts read. */
export type OverviewAnswers = inferRouterOutputs<AppRouter>['overview'];
