import type { inferRouterOutputs } from '@trpc/server';
import type { AppRouter } from '#server/trpc/root.ts';

/** The results of the overview's queries. */
export type OverviewAnswers = inferRouterOutputs<AppRouter>['overview'];
