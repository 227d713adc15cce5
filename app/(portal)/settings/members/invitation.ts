import type { inferRouterOutputs } from '@trpc/server';
import type { AppRouter } from '#server/trpc/root.ts';

type Outputs = inferRouterOutputs<AppRouter>['invitations'];

export type InvitationList = Outputs['list'];
export type InvitationItem = InvitationList['items'][number];
/** An invitation with its link, which is shown only once. */
export type NewInvitation = Outputs['renew'];
