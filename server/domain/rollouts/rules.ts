import { eq, inArray } from 'drizzle-orm';
import { z } from 'zod';
import type { Database, Transaction } from '#db/client.ts';
import { rolloutRules, rollouts } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import { count, time } from '#server/domain/answers.ts';
import { recordAudit } from '#server/domain/audit/index.ts';
import { recordChange } from '#server/domain/changes/index.ts';
import type { Context } from '#server/domain/context.ts';
import { parse } from '#server/domain/parse.ts';
import { rolloutRulesInput } from '#server/domain/rollout-rules/input.ts';
import type { Freeze, RolloutRules } from '#server/domain/rollout-rules/stored.ts';
import { defaultRules } from '#server/domain/rollout-rules/strategies.ts';
import { openStates } from '#server/domain/rollout-rules/words.ts';
import { canonicalJson } from '#server/platform/canonical-json.ts';

export const rolloutRulesView = z.object({
  stepsPerSecond: count,
  inFlight: count,
  approval: z
    .object({
      fromMembers: count,
      people: count,
      role: z.enum(['operator', 'admin']),
      /** Whether automatic upgrades need approvals too. */
      automatic: z.boolean().optional(),
    })
    .nullable(),
  freezes: z.array(z.object({ from: time, to: time, reason: z.string(), exempt: z.array(z.string()) })),
  availabilitySetTag: z.string(),
});
export type RolloutRulesView = z.infer<typeof rolloutRulesView>;
export type RolloutRulesInput = z.input<typeof rolloutRulesInput>;

/** The id of the table's only row. */
const id = 1;

/** Returns the rules of all rollouts, and the freezes. */
export async function readRules(
  db: Database | Transaction,
): Promise<{ rules: RolloutRules; freezes: Freeze[]; nextBatchAt: Date | null }> {
  const [row] = await db.select().from(rolloutRules).where(eq(rolloutRules.id, id));
  return {
    rules: { ...defaultRules, ...row?.rules },
    freezes: row?.freezes ?? [],
    nextBatchAt: row?.nextBatchAt ?? null,
  };
}

/** Returns the rules for rollouts. */
export async function getRolloutRules(ctx: Context): Promise<RolloutRulesView> {
  allow(ctx.actor, 'viewer');
  return viewOf(await readRules(ctx.db));
}

const viewOf = ({ rules, freezes }: { rules: RolloutRules; freezes: Freeze[] }): RolloutRulesView => ({
  ...rules,
  freezes,
});

/** Sets the rules for rollouts, for admins. Open rollouts follow them immediately. */
export async function setRolloutRules(ctx: Context, input: RolloutRulesInput): Promise<RolloutRulesView> {
  allow(ctx.actor, 'admin');
  const { freezes, ...rules } = parse(rolloutRulesInput, input);
  return ctx.db.transaction(async (tx) => {
    const before = viewOf(await readRules(tx));
    const after = viewOf({ rules, freezes });
    if (canonicalJson(before) === canonicalJson(after)) return before;
    const values = { rules, freezes, changedAt: ctx.now, changedBy: ctx.actor.name };
    // Workers look at every open rollout again, because rates and freezes decide what may begin. They lock
    // a rollout before the rules, so this transaction does too.
    await tx
      .update(rollouts)
      .set({ dueAt: ctx.now })
      .where(inArray(rollouts.state, [...openStates]));
    await tx
      .insert(rolloutRules)
      .values({ id, ...values })
      .onConflictDoUpdate({ target: rolloutRules.id, set: values });
    await recordAudit(tx, ctx, {
      action: 'rollout-rules.set',
      target: { kind: 'rollout-rules', id: 'rollout-rules' },
      before,
      after,
    });
    await recordChange(tx, 'rollout', '*');
    return after;
  });
}
