import type { inferRouterOutputs } from '@trpc/server';
import type { AppRouter } from '#server/trpc/root.ts';

/** A handler as its page gets it. */
export type Handler = inferRouterOutputs<AppRouter>['handlers']['get'];
