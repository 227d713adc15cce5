import type { inferRouterOutputs } from '@trpc/server';
import type { AppRouter } from '#server/trpc/root.ts';

/** The comparison of two versions. */
export type Comparison = inferRouterOutputs<AppRouter>['handlers']['compare'];
