import type { z } from 'zod';
import { executionLimits } from '#protocol/executions/index.ts';
import { allowScripts } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { checkParameters, chooseRunbookVersion, fillRunbook } from '#server/domain/runbooks/index.ts';
import type { executionTerms } from './input.ts';

const { timeoutSeconds: timeLimits, validForSeconds: validLimits } = executionLimits;

/** What an execution runs, and its time limits. */
export interface ResolvedRequest {
  /** A JSON object or its text. */
  plan: string | Record<string, unknown>;
  /** The runbook and its version; null if the caller gave a plan. */
  runbook: string | null;
  runbookVersion: string | null;
  /** Whether the plan comes from a published runbook. */
  isPublished: boolean;
  timeoutSeconds: number;
  validForSeconds: number;
  secretParameters: Readonly<Record<string, unknown>>;
  note: string | null;
}

/**
 * Resolves a request to the plan that it runs. The parameters of a runbook are checked and then filled in. Any other
 * plan needs the grant `scripts`, even if its text equals that of a runbook. Throws 403 `scripts_forbidden`, 404
 * `runbook_unknown` | `runbook_version_unknown`, 409 `runbook_not_published` | `runbook_withdrawn`, 422
 * `execution_subject` | `parameters_invalid`.
 */
export async function resolveRequest(
  ctx: Context,
  { secretParameters = {}, ...request }: z.output<typeof executionTerms>,
): Promise<ResolvedRequest> {
  const { plan, runbook: name, version, parameters } = request;
  const note = request.note ?? null;
  const isPlan = name === undefined && version === undefined && parameters === undefined;
  if (isPlan && plan !== undefined) {
    allowScripts(ctx.actor);
    const { timeoutSeconds = timeLimits.usual, validForSeconds = validLimits.usual } = request;
    const terms = { timeoutSeconds, validForSeconds, secretParameters, note };
    return { plan, runbook: null, runbookVersion: null, isPublished: false, ...terms };
  }
  if (name === undefined || plan !== undefined) throw new DomainError('unprocessable', 'execution_subject');
  const row = await chooseRunbookVersion(ctx, { name, version });
  await checkParameters(ctx, row.parameters, {
    planParameters: parametersOf(row.plan),
    parameters: parameters ?? {},
    secretParameters,
  });
  return {
    plan: fillRunbook(row, parameters ?? {}),
    runbook: row.runbook,
    runbookVersion: row.version,
    isPublished: row.state === 'published',
    timeoutSeconds: request.timeoutSeconds ?? row.timeoutSeconds,
    validForSeconds: request.validForSeconds ?? row.validForSeconds,
    secretParameters,
    note,
  };
}

/** Returns the parameters in the text of a plan. */
export const parametersOf = (plan: string): Record<string, unknown> =>
  (JSON.parse(plan) as { Parameters?: Record<string, unknown> }).Parameters ?? {};
