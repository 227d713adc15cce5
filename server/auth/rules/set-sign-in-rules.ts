import { signInRules } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import { recordAudit } from '#server/domain/audit/index.ts';
import { recordChange } from '#server/domain/changes/index.ts';
import type { Context } from '#server/domain/context.ts';
import { parse } from '#server/domain/parse.ts';
import { type SetSignInRulesInput, setSignInRulesInput } from './input.ts';

/**
 * Starts or stops requiring a second factor, effective from the next call of each session. Members without a factor
 * can only manage their own account until they set one up. Members who sign in through the OpenID provider are exempt.
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
