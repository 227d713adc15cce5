import type { inferRouterOutputs } from '@trpc/server';
import type { AppRouter } from '#server/trpc/root.ts';

/** A version, with its warnings as sentences. */
export type Version = inferRouterOutputs<AppRouter>['packages']['get'];
/** A version's messages in every language. */
export type VersionResources = inferRouterOutputs<AppRouter>['resources']['get'];
