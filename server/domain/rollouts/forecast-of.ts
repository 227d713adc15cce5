import { openOf, queuedOf } from '#server/domain/rollout-rules/counts.ts';
import { forecast } from '#server/domain/rollout-rules/forecast.ts';
import type { Definition, Freeze, RingPlan, RolloutRules } from '#server/domain/rollout-rules/stored.ts';
import type { RolloutView } from './answers.ts';
import type { StoredRing, StoredRollout } from './rows.ts';

/** Returns the windows of a ring: its own, or those of the rollout. */
export const windowsOf = ({ rings, windows }: Definition, ring: number): Definition['windows'] => {
  const own = rings[ring]?.windows ?? [];
  return own.length > 0 ? own : windows;
};

interface SpanTerms {
  /** What the plan says of each ring. */
  plans: readonly RingPlan[];
  /** The members of each ring that still have to succeed. */
  left: readonly number[];
  rules: RolloutRules;
  freezes: readonly Freeze[];
}

/** Returns the span in which the members that are left are probably decided; null if no step fits into the windows. */
export function spanFrom(
  from: Date,
  { id, kind, definition }: Pick<StoredRollout, 'id' | 'kind' | 'definition'>,
  { plans, left, rules, freezes }: SpanTerms,
): { from: Date; to: Date } | null {
  const rings = definition.rings.map(({ gates }, ring) => {
    const { size = 0, longestSeconds = 0, sets } = plans[ring] ?? {};
    const windows = windowsOf(definition, ring);
    return { size, left: left[ring] ?? 0, gates, windows, longestSeconds, longestSet: sets?.longest ?? 0 };
  });
  return forecast(rings, {
    stepsPerSecond: Math.min(rules.stepsPerSecond, definition.stepsPerSecond ?? rules.stepsPerSecond),
    ...{ from, freezes, rollout: { id, kind } },
  });
}

/**
 * Returns when a running rollout is likely to end, from its undecided members. Parked members do not count, because it
 * is not known when they can change. Null if the rollout does not run, or if every member is decided.
 */
export function forecastOf(
  { now }: { now: Date },
  row: StoredRollout,
  rings: readonly StoredRing[],
  { rules, freezes }: Pick<SpanTerms, 'rules' | 'freezes'>,
): RolloutView['forecast'] {
  if (row.state !== 'running' || row.plan === null) return null;
  const left = rings.map(({ size, counts }) => queuedOf(size, counts) + openOf(counts));
  if (left.every((members) => members === 0)) return null;
  const span = spanFrom(afterBake(now, row, rings), row, { plans: row.plan.rings, left, rules, freezes });
  return span && { from: span.from.toISOString(), to: span.to.toISOString() };
}

/** Returns when the bake of a ring that met its gates is over, if it is not over yet. */
function afterBake(now: Date, { definition }: StoredRollout, rings: readonly StoredRing[]): Date {
  const ends = rings.flatMap(({ ring, state, metAt }) => {
    const { bakeSeconds = 0 } = definition.rings[ring]?.gates ?? {};
    return state === 'baking' && metAt !== null ? [metAt.getTime() + bakeSeconds * 1_000] : [];
  });
  return new Date(Math.max(now.getTime(), ...ends));
}
