import { and, asc, eq } from 'drizzle-orm';
import { rolloutCurve } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { parse } from '#server/domain/parse.ts';
import { haltsAt, shareBand } from '#server/domain/rollout-rules/curve-band.ts';
import { comparedRings } from '#server/domain/rollout-rules/gates.ts';
import type { CurvePoint } from './answers.ts';
import { type RingOfRollout, ringOfRollout } from './input.ts';
import { readRollout, ringsOf, type StoredRing, type StoredRollout } from './rows.ts';

type StoredPoint = typeof rolloutCurve.$inferSelect;

/**
 * Returns the points of a ring's curve, oldest first. Without a ring, returns the points of the first one. Throws 404
 * `rollout_unknown`.
 */
export async function getCurve(ctx: Context, input: RingOfRollout): Promise<{ items: CurvePoint[] }> {
  allow(ctx.actor, 'viewer');
  const { id, ring = 0 } = parse(ringOfRollout, input);
  const rollout = await readRollout(ctx.db, id);
  const rings = await ringsOf(ctx.db, id);
  const rows = await ctx.db
    .select()
    .from(rolloutCurve)
    .where(and(eq(rolloutCurve.rolloutId, id), eq(rolloutCurve.ring, ring)))
    .orderBy(asc(rolloutCurve.at));
  const terms = {
    compared: comparedOf(rollout, rings),
    minEffectShare: rollout.definition.rings[ring]?.gates.compare?.minEffectShare ?? 0,
    overruled: rings[ring]?.overruled ?? null,
  };
  return { items: rows.map((row) => pointOf(row, terms)) };
}

/** Returns the number of rings that the comparison judges, as the engine counts them. */
function comparedOf({ definition }: StoredRollout, rings: readonly StoredRing[]): number {
  return comparedRings(
    rings.flatMap(({ counts }, index) => {
      const gates = definition.rings[index]?.gates;
      const later = rings.slice(index + 1);
      const candidates = later.reduce((sum, { size, taken }) => sum + Math.max(0, size - taken), 0);
      return gates === undefined ? [] : [{ gates, counts, candidates }];
    }),
  );
}

interface CurveTerms {
  compared: number;
  minEffectShare: number;
  overruled: StoredRing['overruled'];
}

/** An overruled comparison begins a new series, so that points after it count from there. */
function pointOf(
  { rolloutId: _, ring: __, at, ...numbers }: StoredPoint,
  { compared, minEffectShare, overruled }: CurveTerms,
): CurvePoint {
  const isAfter = overruled !== null && numbers.pairs > overruled.pairs;
  const changedFirst = numbers.changedFirst - (isAfter ? overruled.changedFirst : 0);
  const controlFirst = numbers.controlFirst - (isAfter ? overruled.controlFirst : 0);
  const pairs = numbers.pairs - (isAfter ? overruled.pairs : 0);
  const ofTest = haltsAt(controlFirst, compared) - controlFirst;
  return {
    at: at.toISOString(),
    ...numbers,
    ...shareBand(changedFirst, controlFirst, compared),
    difference: changedFirst - controlFirst,
    haltsAt: Math.max(ofTest, Math.ceil((minEffectShare * pairs) / 10_000)),
  };
}
