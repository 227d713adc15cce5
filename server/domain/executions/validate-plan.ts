import { z } from 'zod';
import { errorCodes } from '#protocol/executions/index.ts';
import { allowRoleOrScripts } from '#server/domain/actor.ts';
import { fault } from '#server/domain/answers.ts';
import type { Context } from '#server/domain/context.ts';
import type { Fault } from '#server/domain/error.ts';
import { parse } from '#server/domain/parse.ts';
import { judgePlan, lintPlan, schemaFaultsOf } from '#server/domain/runbooks/index.ts';
import { missingFiles } from './execution-files.ts';
import { type ValidatePlanInput, validatePlanInput } from './input.ts';
import { findPlanMachine } from './plan-machine.ts';

export const planJudgement = z.object({
  code: z.int().min(0).describe('The error code that the plan would get; 0 if it can run.'),
  faults: z.array(fault),
  warnings: z.array(fault).describe('Likely mistakes, which do not prevent anything. Empty if the plan has faults.'),
  converted: z.boolean().describe('Whether the plan has the format vCurrent and would be converted.'),
  schemaFaults: z.array(fault).describe('The faults of the schema in `parameters`, with paths below `/parameters`.'),
});
export type PlanJudgement = z.infer<typeof planJudgement>;

/**
 * Validates a plan without queuing it, for operators and members with the grant `scripts`. If a VM is named, the plan
 * must also fit its machine. Also checks the schema in `parameters`, if there is one. Throws 413 `json_too_large`, and 422 `invalid` if the text is not JSON.
 */
export async function validatePlan(ctx: Context, input: ValidatePlanInput): Promise<PlanJudgement> {
  allowRoleOrScripts(ctx.actor, 'operator');
  const { plan, vmId, parameters } = parse(validatePlanInput, input);
  const platforms = vmId === undefined ? null : (await findPlanMachine(ctx.db, vmId)).platforms;
  const judged = judgePlan(plan, platforms);
  const schemaFaults = parameters == null ? [] : await schemaFaultsOf(ctx, parameters);
  const failed = (code: number, faults: Fault[], converted: boolean) => ({
    ...{ code, faults, warnings: [], converted, schemaFaults },
  });
  if ('faults' in judged) return failed(judged.code, judged.faults, false);
  const { converted } = judged;
  const faults = await missingFiles(ctx.db, judged.plan);
  if (faults.length > 0) return failed(errorCodes.fileUnavailable, faults, converted);
  const warnings = converted ? [] : lintPlan(judged.plan, parameters);
  return { code: 0, faults: [], warnings, converted, schemaFaults };
}
