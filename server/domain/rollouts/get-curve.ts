import { and, asc, eq } from 'drizzle-orm';
import { rolloutCurve } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { parse } from '#server/domain/parse.ts';
import type { CurvePoint } from './answers.ts';
import { type RingOfRollout, ringOfRollout } from './input.ts';
import { readRollout } from './rows.ts';

/**
 * Returns the points of a ring's curve, oldest first. Without a ring, returns the points of the first one. Throws 404
 * `rollout_unknown`.
 */
export async function getCurve(ctx: Context, input: RingOfRollout): Promise<{ items: CurvePoint[] }> {
  allow(ctx.actor, 'viewer');
  const { id, ring = 0 } = parse(ringOfRollout, input);
  await readRollout(ctx.db, id);
  const rows = await ctx.db
    .select()
    .from(rolloutCurve)
    .where(and(eq(rolloutCurve.rolloutId, id), eq(rolloutCurve.ring, ring)))
    .orderBy(asc(rolloutCurve.at));
  return { items: rows.map(({ rolloutId: _, ring: __, at, ...numbers }) => ({ at: at.toISOString(), ...numbers })) };
}
