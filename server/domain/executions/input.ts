import { z } from 'zod';
import type { ApprovalRule } from '#db/schema/index.ts';
import { executionStates, secretParameters, timeoutSeconds, validForSeconds } from '#protocol/executions/index.ts';
import { givenText } from '#protocol/file.ts';
import { anyNamed } from '#protocol/named-values.ts';
import { givenPlan } from '#server/domain/runbooks/input.ts';
import { vmId } from '#server/domain/vms/input.ts';

const executionId = z.uuid();

/**
 * A plan or a runbook to queue. `plan` is a JSON object or its text. A runbook runs in its newest published version
 * unless `version` is given, with `parameters` in place of the plan's own. `secretParameters` are stored only in
 * encrypted form. The time limits default to those of the runbook or, for a plan, to the portal's defaults.
 */
export const executionTerms = z.object({
  plan: givenPlan.optional(),
  runbook: z.string().max(64).optional(),
  version: z.string().max(64).optional(),
  parameters: anyNamed(z.unknown()).optional(),
  secretParameters: secretParameters.optional(),
  timeoutSeconds: timeoutSeconds.optional(),
  validForSeconds: validForSeconds.optional(),
  note: givenText(500).optional(),
});
export const queueExecutionInput = executionTerms.extend({ vmId });
export type QueueExecutionInput = z.input<typeof queueExecutionInput>;

export const getExecutionInput = z.object({ vmId, executionId });
export type GetExecutionInput = z.input<typeof getExecutionInput>;

export const cancelExecutionInput = getExecutionInput.extend({ reason: givenText(500).optional() });
export type CancelExecutionInput = z.input<typeof cancelExecutionInput>;

export const cancelWaitingInput = z.object({ vmId });
export type CancelWaitingInput = z.input<typeof cancelWaitingInput>;

/**
 * Why an execution has the state `cancelled`: a person canceled it, a person did not approve it, or the portal could not
 * run it, because its machine was replaced or has no key for its secret parameters.
 */
export const cancellations = ['cancelled', 'declined', 'not-run'] as const;
export type Cancellation = (typeof cancellations)[number];

export const executionFilter = z.object({
  state: z.enum(executionStates).optional(),
  cancellation: z.enum(cancellations).optional(),
  runbook: z.string().max(64).optional(),
  rollout: z.uuid().optional(),
  code: z.coerce.number().int().min(0).optional(),
  by: z.string().max(200).optional(),
  q: z.string().max(200).optional(),
});
export const groupExecutionsInput = executionFilter;
export type GroupExecutionsInput = z.input<typeof groupExecutionsInput>;

/** Executions of the same plan with the same outcome. */
const executionGroup = z.object({
  name: z.string(),
  version: z.string(),
  runbook: z.string().nullable(),
  state: z.enum(executionStates),
  cancellation: z.enum(cancellations).nullable(),
  code: z.number().int().nullable(),
});
export const listExecutionsInput = executionFilter.extend({
  vmId: vmId.optional(),
  group: executionGroup.optional(),
  /** True: only executions that have ended; false: only executions that have not ended. */
  ended: z.boolean().optional(),
  limit: z.int().min(1).max(200).default(50),
  cursor: z.string().max(500).optional(),
});
export type ListExecutionsInput = z.input<typeof listExecutionsInput>;

/** A part of a log. Rows are counted from 0. */
export const readLogInput = getExecutionInput.extend({
  row: z.int().min(0),
  count: z.int().min(1).max(500).default(500),
});
export type ReadLogInput = z.input<typeof readLogInput>;

/** A search for text in a log, starting at a row. Case is ignored. */
export const searchLogInput = getExecutionInput.extend({
  q: z.string().min(1).max(200),
  row: z.int().min(0).default(0),
});
export type SearchLogInput = z.input<typeof searchLogInput>;

/** A level of a log. `warning` also shows errors. */
export const logLevels = ['messages', 'warning', 'error'] as const;

/** A level of a log, and the row at which the response starts. */
export const filterLogInput = getExecutionInput.extend({
  level: z.enum(logLevels),
  row: z.int().min(0).default(0),
});
export type FilterLogInput = z.input<typeof filterLogInput>;

/**
 * `plan` is a JSON object or its text. With `vmId`, the plan is checked against what this VM's machine can run.
 * `parameters` is the schema of a runbook's parameters, or null if the runbook accepts none.
 */
export const validatePlanInput = z.object({
  plan: z.unknown(),
  vmId: vmId.optional(),
  parameters: z.record(z.string(), z.unknown()).nullable().optional(),
});
export type ValidatePlanInput = z.input<typeof validatePlanInput>;

/** A queue name: at most 255 bytes, of characters that need no quoting in the tools of a broker. */
const queueName = z
  .string()
  .min(1)
  .max(255)
  .regex(/^[\w.:-]+$/, 'queue_name_form');

export const getChannelInput = z.object({ vmId });
export type GetChannelInput = z.input<typeof getChannelInput>;

export const channelTerms = z.strictObject({
  inputQueue: queueName.optional(),
  dialect: z.enum(['annex', 'murano']).default('annex'),
});
export const bindChannelInput = channelTerms.extend({ vmId });
export type BindChannelInput = z.input<typeof bindChannelInput>;
export const decideApprovalInput = getExecutionInput.extend({ approve: z.boolean(), note: givenText(500).optional() });
export type DecideApprovalInput = z.input<typeof decideApprovalInput>;

/** Which executions need the approval of another person. */
export const approvalRules = ['none', 'unpublished', 'all'] as const satisfies readonly ApprovalRule[];
export const executionRulesInput = z.strictObject({ approval: z.enum(approvalRules) });
export type ExecutionRulesInput = z.input<typeof executionRulesInput>;

/** Two executions, which can belong to different VMs. */
export const compareExecutionsInput = z.object({ before: getExecutionInput, after: getExecutionInput });
export type CompareExecutionsInput = z.input<typeof compareExecutionsInput>;

const callInput = getExecutionInput.extend({ n: z.int().min(0) });
/** One call of each of two executions. */
export const compareCallInput = z.object({ before: callInput, after: callInput });
export type CompareCallInput = z.input<typeof compareCallInput>;
