import type { Context } from '#server/domain/context.ts';
import type { Definition, Freeze, RolloutPlan, RolloutRules } from '#server/domain/rollout-rules/stored.ts';
import type { MadePlan } from './make-plan.ts';
import type { PlannedRow } from './weigh-members.ts';

/** Rejects a plan if no window of a ring is long enough for the ring's commands. */
export function requireTime(_definition: Definition, _rings: MadePlan['rings']): void {}

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
