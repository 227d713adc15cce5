import type { inferRouterOutputs } from '@trpc/server';
import type { AppRouter } from '#server/trpc/root.ts';

/** A handler with its versions. */
export type Handler = inferRouterOutputs<AppRouter>['handlers']['get'];
