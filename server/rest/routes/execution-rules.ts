import {
  decideApproval,
  getExecution,
  getExecutionRules,
  setExecutionRules,
  shownExecutionRules,
} from '#server/domain/executions/index.ts';
import { decideApprovalInput, executionRulesInput } from '#server/domain/executions/input.ts';
import { shownExecutionDetails, translateExecution } from '#server/i18n/index.ts';
import { type RestRoute, route } from '../route.ts';
import { inExecution } from '../shapes.ts';

export const executionRuleRoutes: readonly RestRoute[] = [
  route({
    method: 'POST',
    path: '/vms/{id}/executions/{execution}/approval',
    operationId: 'decideExecution',
    summary:
      'Approves or declines an execution that waits for approval. Only a person who did not queue the execution may decide, and only on the pages: calls with an API token get 403 or 409.',
    role: 'operator',
    params: inExecution,
    body: decideApprovalInput.pick({ approve: true, note: true }).strict(),
    answers: { 200: { meaning: 'The execution with the decision.', schema: shownExecutionDetails } },
    refusals: [404, 409],
    run: async (ctx, { params, body, language }) => {
      const of = { vmId: params.id, executionId: params.execution };
      await decideApproval(ctx, { ...of, ...body });
      return { status: 200, body: translateExecution(await getExecution(ctx, of), language) };
    },
  }),
  route({
    method: 'GET',
    path: '/execution-rules',
    operationId: 'getExecutionRules',
    summary: 'Returns which executions need approval.',
    role: 'admin',
    answers: { 200: { meaning: 'The rules.', schema: shownExecutionRules } },
    refusals: [],
    run: async (ctx) => ({ status: 200, body: await getExecutionRules(ctx) }),
  }),
  route({
    method: 'PUT',
    path: '/execution-rules',
    operationId: 'setExecutionRules',
    summary:
      'Sets which executions a second person must approve: none, those that do not run a published runbook (`unpublished`), or all.',
    role: 'admin',
    body: executionRulesInput,
    answers: { 200: { meaning: 'The rules.', schema: shownExecutionRules } },
    refusals: [],
    run: async (ctx, { body }) => ({ status: 200, body: await setExecutionRules(ctx, body) }),
  }),
];
