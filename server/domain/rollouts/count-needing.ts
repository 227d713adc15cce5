import { and, inArray, sql } from 'drizzle-orm';
import type { Database } from '#db/client.ts';
import { rollouts } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { readRules } from './rules.ts';
import { neededColumns, needsPerson } from './show-rollout.ts';

/** Returns how many rollouts do not continue without a person. `listRollouts` with `needing` lists them. */
export async function countNeeding(ctx: Context): Promise<{ needing: number }> {
  allow(ctx.actor, 'viewer');
  return { needing: (await findNeeding(ctx.db)).length };
}

/** Returns the ids of the rollouts that do not continue without a person. */
export async function findNeeding(db: Database): Promise<string[]> {
  const [rows, { rules }] = await Promise.all([
    db
      .select({ ...neededColumns, id: rollouts.id })
      .from(rollouts)
      .where(
        and(
          inArray(rollouts.state, ['draft', 'planned', 'running', 'paused']),
          sql`(${rollouts.state} <> 'draft' or ${rollouts.why} <> '[]')`,
        ),
      ),
    readRules(db),
  ]);
  return rows.filter((row) => needsPerson(row, rules)).map(({ id }) => id);
}
