import type { inferRouterOutputs } from '@trpc/server';
import type { AppRouter } from '#server/trpc/root.ts';

export type Account = inferRouterOutputs<AppRouter>['account']['get'];
export type Passkey = Account['passkeys'][number];
export type Browser = inferRouterOutputs<AppRouter>['account']['sessions']['items'][number];
