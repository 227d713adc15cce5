import type { Context } from '#server/domain/context.ts';
import type { Definition, Freeze, RolloutPlan, RolloutRules } from '#server/domain/rollout-rules/stored.ts';
import { fitsWindows } from '#server/domain/rollout-rules/windows.ts';
import { spanFrom, windowsOf } from '../forecast-of.ts';
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

/** Returns when a rollout ends at the earliest, and when it probably ends, if it starts now or at its time. */
export function endsOf(
  { now }: Pick<Context, 'now'>,
  row: StoredRollout,
  plans: RolloutPlan['rings'],
  rules: RolloutRules,
  freezes: readonly Freeze[],
): Pick<RolloutPlan, 'earliestEnd' | 'likelyEnd'> {
  const start = row.startAt !== null && row.startAt > now ? row.startAt : now;
  const left = plans.map(({ size }) => size);
  const span = spanFrom(start, row, { plans, left, rules, freezes });
  return { earliestEnd: span?.from.toISOString() ?? null, likelyEnd: span?.to.toISOString() ?? null };
}
