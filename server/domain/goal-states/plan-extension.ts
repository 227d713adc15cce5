import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { parse } from '#server/domain/parse.ts';
import { evaluateVm } from './evaluate.ts';
import { type PlanExtensionInput, planExtensionInput } from './input.ts';
import { type Plan, planIn } from './plan.ts';
import { resolveTargets } from './resolve-targets.ts';

/**
 * Plans `setExtension` with the same input and rules, without writing. The result includes the faults. Throws 404
 * `vm_unknown`, 409 `uninstalling` | `handler_fixed` | `vm_decommissioning`.
 */
export async function planExtension(ctx: Context, input: PlanExtensionInput): Promise<Plan> {
  allow(ctx.actor, 'operator');
  const { vmId, name, goal, siblings, changes } = parse(planExtensionInput, input);
  const targets = await resolveTargets(ctx, vmId, name, goal, { siblings, changes });
  return planIn(ctx, vmId, 'set', (tx, head) => evaluateVm(tx, ctx, head, { kind: 'set', targets, compares: false }));
}
