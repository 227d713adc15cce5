import type { Actor } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { parse } from '#server/domain/parse.ts';
import { addMember } from '../members/add-member.ts';
import { hashPassword } from '../password-hash.ts';
import { type RedeemInvitationInput, redeemInvitationInput } from './input.ts';
import { readInvitation } from './read-invitation.ts';
import { takeInvitation } from './take-invitation.ts';

/**
 * Creates a member from a link, which works only once: of two concurrent calls, one gets `invitation_refused`. Anyone
 * who has the link may call this. The caller then signs the new member in.
 */
export async function redeemInvitation(ctx: Context, input: RedeemInvitationInput): Promise<Actor> {
  const { token, name, email, password } = parse(redeemInvitationInput, input);
  // Checks the link first, so that guessed links do not cost a password hash.
  await readInvitation(ctx, { token });
  const passwordHash = await hashPassword(password);
  return ctx.db.transaction(async (tx) => {
    const { role, namespaces, usedBy } = await takeInvitation(tx, ctx, token);
    const actor = await addMember(tx, ctx, { name, email, passwordHash, role, namespaces });
    await usedBy(actor);
    return actor;
  });
}
