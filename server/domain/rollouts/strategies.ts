import { asc, eq, sql } from 'drizzle-orm';
import { z } from 'zod';
import type { Transaction } from '#db/client.ts';
import { rolloutStrategies } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import { time } from '#server/domain/answers.ts';
import { recordAudit } from '#server/domain/audit/index.ts';
import { recordChange } from '#server/domain/changes/index.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { parse } from '#server/domain/parse.ts';
import type { Strategy } from '#server/domain/rollout-rules/stored.ts';
import { builtInStrategies, builtInStrategy } from '#server/domain/rollout-rules/strategies.ts';
import { canonicalJson } from '#server/platform/canonical-json.ts';
import { type StrategyByName, strategyByName } from './input.ts';
import { readStrategy, type StrategyTerms } from './read-definition.ts';
import { shownRing } from './shown-definition.ts';

export const strategyView = z.object({
  name: z.string(),
  builtIn: z.boolean(),
  /** Rings and gates, as setting a strategy accepts them. */
  strategy: z.record(z.string(), z.unknown()),
  /** Handlers whose automatic upgrades use the strategy; `*` is every other handler. */
  automaticFor: z.array(z.string()),
  changedAt: time.nullable(),
  changedBy: z.string().nullable(),
});
export type StrategyView = z.infer<typeof strategyView>;

export type SetStrategyInput = StrategyTerms & StrategyByName;

type StoredStrategy = typeof rolloutStrategies.$inferSelect;

/** Lists the strategies: first the built-in ones, then the saved ones by name. */
export async function listStrategies(ctx: Context): Promise<{ items: StrategyView[] }> {
  allow(ctx.actor, 'viewer');
  const rows = await ctx.db.select().from(rolloutStrategies).orderBy(asc(rolloutStrategies.name));
  const stored = new Map(rows.map((row) => [row.name, row]));
  const builtIn = Object.entries(builtInStrategies);
  return {
    items: [
      ...builtIn.map(([name, strategy]) => viewOf(ctx, name, strategy, stored.get(name))),
      ...rows
        .filter(({ name }) => builtInStrategy(name) === null)
        .map((row) => viewOf(ctx, row.name, row.strategy, row)),
    ],
  };
}

/**
 * Saves a strategy. Only admins choose the handlers whose automatic upgrades use it; each handler has one strategy. The
 * rings and gates of a built-in strategy are fixed. Throws 422 with every fault, 409 `strategy_built_in`.
 */
export async function setStrategy(ctx: Context, input: SetStrategyInput): Promise<StrategyView> {
  allow(ctx.actor, 'operator');
  const { name: given, ...terms } = input;
  const { name } = parse(strategyByName, { name: given });
  const builtIn = builtInStrategy(name);
  if (builtIn !== null && Object.keys(terms).some((key) => key !== 'automaticFor')) {
    throw new DomainError('conflict', 'strategy_built_in');
  }
  const { strategy: saved, automaticFor } = readStrategy(ctx, terms);
  if (builtIn === null && !terms.rings) {
    // Without rings, it would only be another name for the default strategy.
    throw new DomainError('unprocessable', 'invalid', { faults: [{ path: '/rings', code: 'field_missing' }] });
  }
  const strategy = builtIn ?? saved;
  return ctx.db.transaction(async (tx) => {
    // Two strategies could otherwise get the same handler.
    await tx.execute(sql`select pg_advisory_xact_lock(hashtextextended('rollout strategies', 0))`);
    const before = await lockStrategy(tx, name);
    const earlier = before?.automaticFor ?? [];
    if (canonicalJson(earlier) !== canonicalJson(automaticFor)) allow(ctx.actor, 'admin');
    if (canonicalJson([before?.strategy, earlier]) === canonicalJson([strategy, automaticFor])) {
      return viewOf(ctx, name, strategy, before);
    }
    await releaseHandlers(tx, name, automaticFor);
    const values = { strategy, automaticFor, changedAt: ctx.now, changedBy: ctx.actor.name };
    const [row] = await tx
      .insert(rolloutStrategies)
      .values({ name, ...values })
      .onConflictDoUpdate({ target: rolloutStrategies.name, set: values })
      .returning();
    await recordAudit(tx, ctx, {
      action: 'strategy.set',
      target: { kind: 'strategy', id: name },
      before: before && { strategy: before.strategy, automaticFor: earlier },
      after: { strategy, automaticFor },
      details: { name, automaticFor },
    });
    await recordChange(tx, 'rollout', '*');
    return viewOf(ctx, name, strategy, row);
  });
}

async function lockStrategy(tx: Transaction, name: string): Promise<StoredStrategy | undefined> {
  const [row] = await tx.select().from(rolloutStrategies).where(eq(rolloutStrategies.name, name)).for('update');
  return row;
}

/** Takes these handlers away from the other strategies. */
async function releaseHandlers(tx: Transaction, name: string, handlers: readonly string[]): Promise<void> {
  const taken = sql.param([...handlers]);
  await tx
    .update(rolloutStrategies)
    .set({
      automaticFor: sql`array(select h from unnest(${rolloutStrategies.automaticFor}) h where h <> all(${taken}::text[]))`,
    })
    .where(sql`${rolloutStrategies.name} <> ${name} and ${rolloutStrategies.automaticFor} && ${taken}::text[]`);
}

/** Deletes a saved strategy. Rollouts that used it keep their rings. Throws 404 `strategy_unknown`. */
export async function removeStrategy(ctx: Context, input: StrategyByName): Promise<void> {
  allow(ctx.actor, 'operator');
  const { name } = parse(strategyByName, input);
  if (builtInStrategy(name) !== null) throw new DomainError('conflict', 'strategy_built_in');
  await ctx.db.transaction(async (tx) => {
    const before = await lockStrategy(tx, name);
    if (before === undefined) throw new DomainError('not_found', 'strategy_unknown');
    if (before.automaticFor.length > 0) allow(ctx.actor, 'admin');
    await tx.delete(rolloutStrategies).where(eq(rolloutStrategies.name, name));
    await recordAudit(tx, ctx, {
      action: 'strategy.remove',
      target: { kind: 'strategy', id: name },
      before: { strategy: before.strategy, automaticFor: before.automaticFor },
      details: { name },
    });
    await recordChange(tx, 'rollout', '*');
  });
}

function viewOf(ctx: Context, name: string, strategy: Strategy, row: StoredStrategy | undefined): StrategyView {
  const { rings, ...rest } = strategy;
  return {
    name,
    builtIn: builtInStrategy(name) !== null,
    strategy: { ...rest, rings: rings.map((ring) => shownRing(ctx, ring)) },
    automaticFor: row?.automaticFor ?? [],
    changedAt: row?.changedAt.toISOString() ?? null,
    changedBy: row?.changedBy ?? null,
  };
}
