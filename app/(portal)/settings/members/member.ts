import type { inferRouterOutputs } from '@trpc/server';
import type { AppRouter } from '#server/trpc/root.ts';

export type MemberList = inferRouterOutputs<AppRouter>['members']['list'];
export type { Member } from '#server/auth/members/index.ts';
