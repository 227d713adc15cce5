import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { parse } from '#server/domain/parse.ts';
import type { PlanView, RolloutView } from './answers.ts';
import { type InRollout, inRollout, type WaitInRollout, waitInRollout } from './input.ts';
import { readRollout } from './rows.ts';
import { planOf, showRollout } from './show-rollout.ts';
import { showAfterWait } from './wait-for-state.ts';

/**
 * Returns a rollout. With `wait`, the answer is held until the rollout has another state. Throws 404 `rollout_unknown`.
 */
export async function getRollout(ctx: Context, input: WaitInRollout): Promise<RolloutView> {
  allow(ctx.actor, 'viewer');
  const { id, wait } = parse(waitInRollout, input);
  const view = await showRollout(ctx, id);
  return showAfterWait(ctx, view, [view.state], wait);
}

/** Returns the plan of a rollout, for operators. Throws 404 `rollout_unknown` | `plan_unknown`. */
export async function getRolloutPlan(ctx: Context, input: InRollout): Promise<PlanView> {
  allow(ctx.actor, 'operator');
  const { id } = parse(inRollout, input);
  const plan = planOf(await readRollout(ctx.db, id));
  if (plan === null) throw new DomainError('not_found', 'rollout_plan_unknown');
  return plan;
}
