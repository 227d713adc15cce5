import { and, inArray, sql } from 'drizzle-orm';
import { rollouts } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { readRules } from './rules.ts';
import { neededColumns, needsPerson } from './show-rollout.ts';

/** Returns how many rollouts do not continue without a person. */
export async function countNeeding(ctx: Context): Promise<{ needing: number }> {
  allow(ctx.actor, 'viewer');
  const [rows, { rules }] = await Promise.all([
    ctx.db
      .select(neededColumns)
      .from(rollouts)
      .where(
        and(
          inArray(rollouts.state, ['draft', 'planned', 'running', 'paused']),
          sql`(${rollouts.state} <> 'draft' or ${rollouts.why} <> '[]')`,
        ),
      ),
    readRules(ctx.db),
  ]);
  return { needing: rows.filter((row) => needsPerson(row, rules)).length };
}
