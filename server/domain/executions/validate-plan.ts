import { z } from 'zod';
import { errorCodes } from '#protocol/executions/index.ts';
import { allow } from '#server/domain/actor.ts';
import { fault } from '#server/domain/answers.ts';
import type { Context } from '#server/domain/context.ts';
import { parse } from '#server/domain/parse.ts';
import { judgePlan } from '#server/domain/runbooks/index.ts';
import { missingFiles } from './execution-files.ts';
import { type ValidatePlanInput, validatePlanInput } from './input.ts';
import { findPlanMachine } from './plan-machine.ts';

export const planJudgement = z.object({
  code: z.int().min(0).describe('The error code that the plan would get; 0 if it can run.'),
  faults: z.array(fault),
  converted: z.boolean().describe('Whether the plan has the format vCurrent and would be converted.'),
});
export type PlanJudgement = z.infer<typeof planJudgement>;

/**
 * Validates a plan without queuing it, for operators. If a VM is named, the plan must also fit its machine. Throws 413
 * `json_too_large`, and 422 `invalid` if the text is not JSON.
 */
export async function validatePlan(ctx: Context, input: ValidatePlanInput): Promise<PlanJudgement> {
  allow(ctx.actor, 'operator');
  const { plan, vmId } = parse(validatePlanInput, input);
  const platforms = vmId === undefined ? null : (await findPlanMachine(ctx.db, vmId)).platforms;
  const judged = judgePlan(plan, platforms);
  if ('faults' in judged) return { code: judged.code, faults: judged.faults, converted: false };
  const faults = await missingFiles(ctx.db, judged.plan);
  if (faults.length > 0) return { code: errorCodes.fileUnavailable, faults, converted: judged.converted };
  return { code: 0, faults: [], converted: judged.converted };
}
