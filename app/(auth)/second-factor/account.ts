import type { inferRouterOutputs } from '@trpc/server';
import type { Account } from '#server/auth/account/index.ts';
import type { AppRouter } from '#server/trpc/root.ts';

export type { Account };
export type Passkey = Account['passkeys'][number];
export type Browser = inferRouterOutputs<AppRouter>['account']['sessions']['items'][number];
