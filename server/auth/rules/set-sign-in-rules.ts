import { signInRules } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import { recordAudit } from '#server/domain/audit/index.ts';
import { recordChange } from '#server/domain/changes/index.ts';
import type { Context } from '#server/domain/context.ts';
import { parse } from '#server/domain/parse.ts';
import { type SetSignInRulesInput, setSignInRulesInput } from './input.ts';

/**
 * Requires a second factor of everyone, or stops requiring it. Applies from the next call of each session on: a member
 * without one must set one up first. Members whom the OpenID provider signs in are exempt.
 */
export async function setSignInRules(ctx: Context, input: SetSignInRulesInput): Promise<void> {
  allow(ctx.actor, 'admin');
  const { requireFactor } = parse(setSignInRulesInput, input);
  await ctx.db.transaction(async (tx) => {
    const row = { requireFactor, updatedAt: ctx.now };
    await tx
      .insert(signInRules)
      .values({ id: 1, ...row })
      .onConflictDoUpdate({ target: signInRules.id, set: row });
    await recordAudit(tx, ctx, {
      action: 'sign-in-rules.set',
      target: { kind: 'sign-in-rules', id: 'portal' },
      details: { requireFactor },
    });
    await recordChange(tx, 'member', '*');
  });
}
