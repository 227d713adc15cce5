import type { Context } from '#server/domain/context.ts';
import { forecast } from '#server/domain/rollout-rules/forecast.ts';
import type { Definition, Freeze, RolloutPlan, RolloutRules } from '#server/domain/rollout-rules/stored.ts';
import { fitsWindows } from '#server/domain/rollout-rules/windows.ts';
import type { StoredRollout } from '../rows.ts';
import { RingFault } from './ring-fault.ts';

/** Rejects a plan if a ring's commands can take longer than its longest window. Throws 422 `window_too_short`. */
export function requireTime(definition: Definition, plans: RolloutPlan['rings']): void {
  for (const [ring, { size, longestSeconds: seconds }] of plans.entries()) {
    if (size > 0 && !fitsWindows(windowsOf(definition, ring), seconds)) {
      throw new RingFault(ring, 'window_too_short', { seconds });
    }
  }
}

const windowsOf = ({ rings, windows }: Definition, ring: number): Definition['windows'] => {
  const own = rings[ring]?.windows ?? [];
  return own.length > 0 ? own : windows;
};

/** Returns when a rollout ends at the earliest, and when it probably ends, if it starts now or at its time. */
export function endsOf(
  { now }: Pick<Context, 'now'>,
  { id, kind, definition, startAt }: StoredRollout,
  plans: RolloutPlan['rings'],
  rules: RolloutRules,
  freezes: readonly Freeze[],
): Pick<RolloutPlan, 'earliestEnd' | 'likelyEnd'> {
  const start = startAt !== null && startAt > now ? startAt : now;
  const rings = definition.rings.map(({ gates }, ring) => {
    const { size = 0, longestSeconds = 0, sets } = plans[ring] ?? {};
    const windows = windowsOf(definition, ring);
    return { size, left: size, gates, windows, longestSeconds, longestSet: sets?.longest ?? 0 };
  });
  const span = forecast(rings, {
    stepsPerSecond: Math.min(rules.stepsPerSecond, definition.stepsPerSecond ?? rules.stepsPerSecond),
    ...{ from: start, freezes, rollout: { id, kind } },
  });
  return { earliestEnd: span?.from.toISOString() ?? null, likelyEnd: span?.to.toISOString() ?? null };
}
