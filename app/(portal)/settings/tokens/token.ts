import type { inferRouterOutputs } from '@trpc/server';
import type { AppRouter } from '#server/trpc/root.ts';

export type ListedTokens = inferRouterOutputs<AppRouter>['tokens']['list'];
export type Token = ListedTokens['items'][number];
