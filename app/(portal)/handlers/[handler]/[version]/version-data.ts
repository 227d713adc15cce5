import type { inferRouterOutputs } from '@trpc/server';
import type { AppRouter } from '#server/trpc/root.ts';

/** A version with its warnings in words. */
export type Version = inferRouterOutputs<AppRouter>['packages']['get'];
/** Its messages in every language. */
export type VersionResources = inferRouterOutputs<AppRouter>['resources']['get'];
