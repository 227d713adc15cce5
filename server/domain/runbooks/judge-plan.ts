import {
  type ExecutionPlan,
  executionLimits,
  type MachinePlatforms,
  type PlanCode,
  type PlanFault,
  readExecutionPlan,
} from '#protocol/executions/index.ts';
import { DomainError } from '#server/domain/error.ts';
import { parseJson } from '#server/platform/json.ts';

/** A valid plan with its text, or the faults of an invalid plan with their code. */
export type JudgedPlan =
  | { text: string; plan: ExecutionPlan; converted: boolean }
  | { code: PlanCode; faults: PlanFault[] };

/**
 * Validates a plan, given as a JSON value or as text. Throws 413 `json_too_large` above 4 MiB, and 422 `invalid` if the
 * text is not acceptable JSON.
 */
export function judgePlan(given: unknown, platforms: MachinePlatforms | null): JudgedPlan {
  const text = typeof given === 'string' ? given : JSON.stringify(given);
  const bytes = Buffer.from(text);
  const limit = executionLimits.planBytes;
  if (bytes.byteLength > limit) throw new DomainError('too_large', 'json_too_large', { params: { limit } });
  const { value, faults } = parseJson(bytes, { maxDepth: executionLimits.planDepth, oddities: 'refuse' });
  if (faults.length > 0) throw new DomainError('unprocessable', 'invalid', { faults });
  const read = readExecutionPlan(value, { platforms });
  return 'faults' in read ? read : { text, ...read };
}
