import type { Context } from '#server/domain/context.ts';
import type { Definition, Freeze, RolloutPlan, RolloutRules } from '#server/domain/rollout-rules/stored.ts';
import { fitsWindows } from '#server/domain/rollout-rules/windows.ts';
import type { StoredRollout } from '../rows.ts';
import { forecast } from './forecast.ts';
import { RingFault } from './ring-fault.ts';

/** Rejects a plan if a ring's commands can take longer than its longest window. Throws 422 `window_too_short`. */
export function requireTime({ rings, windows }: Definition, plans: RolloutPlan['rings']): void {
  for (const [ring, { size, longestSeconds: seconds }] of plans.entries()) {
    const own = rings[ring]?.windows ?? [];
    if (size > 0 && !fitsWindows(own.length > 0 ? own : windows, seconds)) {
      throw new RingFault(ring, 'window_too_short', { seconds });
    }
  }
}

/** Returns when a rollout ends at the earliest, and when it probably ends, if it starts now or at its time. */
export function endsOf(
  { now }: Pick<Context, 'now'>,
  { id, kind, definition, startAt }: StoredRollout,
  rings: RolloutPlan['rings'],
  rules: RolloutRules,
  freezes: readonly Freeze[],
): Pick<RolloutPlan, 'earliestEnd' | 'likelyEnd'> {
  const stepsPerSecond = Math.min(rules.stepsPerSecond, definition.stepsPerSecond ?? rules.stepsPerSecond);
  const start = startAt !== null && startAt > now ? startAt : now;
  const ends = forecast({ rollout: { id, kind }, definition, rings, stepsPerSecond, freezes, start });
  return { earliestEnd: ends.earliest?.toISOString() ?? null, likelyEnd: ends.likely?.toISOString() ?? null };
}
