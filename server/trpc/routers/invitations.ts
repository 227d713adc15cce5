import { startSession } from '#server/auth/index.ts';
import {
  createInvitation,
  listInvitations,
  type RedeemInvitationInput,
  readInvitation,
  redeemInvitation,
  renewInvitation,
  revokeInvitation,
} from '#server/auth/invitations/index.ts';
import { me } from '#server/auth/members/index.ts';
import { type CallContext, mutation, plainQuery, query, router } from '../trpc.ts';

/**
 * Redeems an invitation, and sets the new member's session cookie. Because the cookie is a response header, the page
 * must call the procedure without streaming (`httpBatchLink`).
 */
async function redeemAndSignIn(ctx: CallContext, input: RedeemInvitationInput) {
  const actor = await redeemInvitation(ctx, input);
  const { headers, address } = ctx;
  const cookie = await ctx.db.transaction((tx) =>
    startSession(tx, ctx, actor, { method: 'password', headers, address }),
  );
  ctx.responseHeaders.append('set-cookie', cookie);
  return me({ ...ctx, actor });
}

export const invitationsRouter = router({
  list: plainQuery(listInvitations),
  create: mutation(createInvitation),
  renew: mutation(renewInvitation),
  revoke: mutation(revokeInvitation),
  read: query(readInvitation),
  redeem: mutation(redeemAndSignIn),
});
