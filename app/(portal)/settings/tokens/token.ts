import type { inferRouterOutputs } from '@trpc/server';
import type { AppRouter } from '#server/trpc/root.ts';

export type TokenList = inferRouterOutputs<AppRouter>['tokens']['list'];
export type Token = TokenList['items'][number];
