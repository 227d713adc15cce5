import type { inferRouterOutputs } from '@trpc/server';
import type { AppRouter } from '#server/trpc/root.ts';

/** Two versions as their page gets them. */
export type Comparison = inferRouterOutputs<AppRouter>['handlers']['compare'];
