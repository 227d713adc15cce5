import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { count, pageOf } from '#server/domain/answers.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import {
  bindChannel,
  cancelExecution,
  cancelWaiting,
  executionChannel,
  getChannel,
  getExecution,
  getPlan,
  getResult,
  type LogRow,
  listExecutions,
  planJudgement,
  queueExecution,
  streamLog,
  unbindChannel,
  validatePlan,
} from '#server/domain/executions/index.ts';
import { channelTerms, executionFilter, executionTerms } from '#server/domain/executions/input.ts';
import {
  type Language,
  shownExecution,
  shownExecutionDetails,
  translateExecution,
  translateFaults,
} from '#server/i18n/index.ts';
import { archiveOf } from '../execution-archive.ts';
import { logLines } from '../log-lines.ts';
import { flag, pageQuery, type RestRoute, route } from '../route.ts';
import { inExecution, inVm } from '../shapes.ts';

const planBytes = () => executionTermsBytes;
/** A plan of 4 MiB can be twice as long if the JSON body contains it as a string. */
const executionTermsBytes = 9 * 1024 * 1024;

const shownFault = z.object({ path: z.string(), code: z.string(), message: z.string(), line: z.int().optional() });

async function shown(ctx: Context, vmId: string, executionId: string, language: Language) {
  return translateExecution(await getExecution(ctx, { vmId, executionId }), language);
}

const listing = pageQuery.extend(executionFilter.shape);

const attachmentOf = (execution: string, ending: string) => `attachment; filename="execution-${execution}.${ending}"`;

/** Streams the log. Pages also use this route, for downloads. */
const logRoute: RestRoute = route({
  method: 'GET',
  path: '/vms/{id}/executions/{execution}/log',
  operationId: 'getExecutionLog',
  summary:
    'Streams the log of an execution from row `from`. With `follow`, the response goes on until the execution has ended.',
  role: 'operator',
  params: inExecution,
  query: z.object({
    format: z.enum(['text', 'jsonl']).default('text'),
    from: z.coerce.number().int().min(0).default(0),
    follow: flag,
  }),
  answers: { 200: { meaning: 'The log.', types: ['text/plain', 'application/jsonl'] } },
  refusals: [404],
  run: async (ctx, { params, query: { format, from, follow } }) => {
    const of = { vmId: params.id, executionId: params.execution, row: from };
    const rows = streamLog(ctx, of, follow ? aSecond : undefined);
    // The first rows are read before the response begins, so that an error can still set the status.
    const first = await rows.next();
    const type = format === 'text' ? 'text/plain; charset=utf-8' : 'application/jsonl';
    return {
      status: 200,
      bytes: linesOf(first, rows, format),
      headers: {
        'content-type': type,
        'content-disposition': attachmentOf(params.execution, format === 'text' ? 'txt' : 'jsonl'),
      },
    };
  },
});

/** Downloads the archive. Pages also use this route. */
const archiveRoute: RestRoute = route({
  method: 'GET',
  path: '/vms/{id}/executions/{execution}/archive',
  operationId: 'getExecutionArchive',
  summary:
    'Downloads an execution as a zip archive: `plan.json`, `result.json` if there is a result, `calls.csv`, `transcript.jsonl` and `log.txt`.',
  role: 'operator',
  params: inExecution,
  answers: { 200: { meaning: 'The archive.', types: ['application/zip'] } },
  refusals: [404],
  run: async (ctx, { params }) => {
    const { bytes } = await archiveOf(ctx, { vmId: params.id, executionId: params.execution });
    const headers = { 'content-type': 'application/zip', 'content-disposition': attachmentOf(params.execution, 'zip') };
    return { status: 200, bytes, headers };
  },
});

export const executionFileRoutes: readonly RestRoute[] = [logRoute, archiveRoute];

export const executionRoutes: readonly RestRoute[] = [
  route({
    method: 'POST',
    path: '/execution-plans/validate',
    operationId: 'validateExecutionPlan',
    summary:
      'Checks an execution plan without queuing it, and warns about likely mistakes. The body is the plan. With `vm`, the plan is checked against what that VM’s machine can run.',
    role: 'operator',
    orGrant: 'scripts',
    query: z.object({ vm: z.uuid().optional() }),
    body: z.unknown(),
    bodyBytes: planBytes,
    answers: {
      200: {
        meaning: 'The error code, the faults and the warnings of the plan.',
        schema: planJudgement
          .omit({ schemaFaults: true })
          .extend({ faults: z.array(shownFault), warnings: z.array(shownFault) }),
      },
    },
    refusals: [],
    run: async (ctx, { body, query, language }) => {
      const { code, converted, faults, warnings } = await validatePlan(ctx, { plan: body, vmId: query.vm });
      const inWords = (list: typeof faults) => translateFaults(list, language);
      return { status: 200, body: { code, converted, faults: inWords(faults), warnings: inWords(warnings) } };
    },
  }),
  route({
    method: 'POST',
    path: '/vms/{id}/executions',
    operationId: 'queueExecution',
    summary:
      'Queues an execution plan or a runbook for a VM. Any plan that is not a published runbook needs the grant `scripts`. A plan with an `ID` is queued once: queuing the same plan again returns the existing execution.',
    role: 'operator',
    params: inVm,
    body: executionTerms.strict(),
    bodyBytes: planBytes,
    answers: {
      200: { meaning: 'The plan was queued before.', schema: shownExecutionDetails },
      201: { meaning: 'The plan is queued.', schema: shownExecutionDetails },
    },
    refusals: [404, 409],
    run: async (ctx, { params, body, language }) => {
      const { execution, isNew } = await queueExecution(ctx, { vmId: params.id, ...body });
      const location = `/api/v1/vms/${params.id}/executions/${execution.id}`;
      return {
        status: isNew ? 201 : 200,
        body: await shown(ctx, params.id, execution.id, language),
        headers: { location },
      };
    },
  }),
  route({
    method: 'GET',
    path: '/executions',
    operationId: 'listExecutions',
    summary: 'Lists the executions of all VMs, newest first.',
    role: 'viewer',
    query: listing,
    answers: { 200: { meaning: 'A page of executions.', schema: pageOf(shownExecution) } },
    refusals: [],
    run: async (ctx, { query, language }) => {
      const { items, nextCursor } = await listExecutions(ctx, query);
      return { status: 200, body: { items: items.map((item) => translateExecution(item, language)), nextCursor } };
    },
  }),
  route({
    method: 'GET',
    path: '/vms/{id}/executions',
    operationId: 'listVmExecutions',
    summary: 'Lists the executions of a VM, newest first.',
    role: 'viewer',
    params: inVm,
    query: listing,
    answers: { 200: { meaning: 'A page of executions.', schema: pageOf(shownExecution) } },
    refusals: [],
    run: async (ctx, { params, query, language }) => {
      const { items, nextCursor } = await listExecutions(ctx, { vmId: params.id, ...query });
      return { status: 200, body: { items: items.map((item) => translateExecution(item, language)), nextCursor } };
    },
  }),
  route({
    method: 'DELETE',
    path: '/vms/{id}/executions',
    operationId: 'cancelWaitingExecutions',
    summary: 'Cancels all executions that wait for a VM. An execution that the machine has received continues.',
    role: 'operator',
    params: inVm,
    answers: { 200: { meaning: 'How many were canceled.', schema: z.object({ cancelled: count }) } },
    refusals: [404],
    run: async (ctx, { params }) => ({
      status: 200,
      body: { cancelled: await cancelWaiting(ctx, { vmId: params.id }) },
    }),
  }),
  route({
    method: 'GET',
    path: '/vms/{id}/executions/{execution}',
    operationId: 'getExecution',
    summary: 'Returns an execution with the calls of its Body, and how it ended in the language of Accept-Language.',
    role: 'viewer',
    params: inExecution,
    answers: { 200: { meaning: 'The execution.', schema: shownExecutionDetails } },
    refusals: [404],
    run: async (ctx, { params, language }) => ({
      status: 200,
      body: await shown(ctx, params.id, params.execution, language),
    }),
  }),
  route({
    method: 'GET',
    path: '/vms/{id}/executions/{execution}/plan',
    operationId: 'getExecutionPlan',
    summary: 'Returns the plan of an execution as it was queued.',
    role: 'operator',
    params: inExecution,
    answers: { 200: { meaning: 'The plan.', types: ['application/json'] } },
    refusals: [404],
    run: async (ctx, { params }) => ({
      status: 200,
      text: await getPlan(ctx, { vmId: params.id, executionId: params.execution }),
      headers: { 'content-type': 'application/json' },
    }),
  }),
  route({
    method: 'GET',
    path: '/vms/{id}/executions/{execution}/result',
    operationId: 'getExecutionResult',
    summary: 'Returns the result of an execution as the machine sent it.',
    role: 'operator',
    params: inExecution,
    answers: { 200: { meaning: 'The result.', types: ['application/json'] } },
    refusals: [404],
    run: async (ctx, { params }) => {
      const result = await getResult(ctx, { vmId: params.id, executionId: params.execution });
      if (result === null) throw new DomainError('not_found', 'result_missing');
      return { status: 200, text: result, headers: { 'content-type': 'application/json' } };
    },
  }),
  ...executionFileRoutes,
  route({
    method: 'POST',
    path: '/vms/{id}/executions/{execution}/cancel',
    operationId: 'cancelExecution',
    summary:
      'Cancels an execution. If the machine has received the execution, it ends within seconds, and its state then shows the end.',
    role: 'operator',
    params: inExecution,
    body: z.strictObject({ reason: z.string().max(500).optional() }),
    answers: {
      200: { meaning: 'The execution is canceled.', schema: shownExecutionDetails },
      202: { meaning: 'Accepted. The machine ends the execution at its next poll.', schema: shownExecutionDetails },
    },
    refusals: [404, 409],
    run: async (ctx, { params, body, language }) => {
      const of = { vmId: params.id, executionId: params.execution };
      const { isEnded } = await cancelExecution(ctx, { ...of, ...body });
      return { status: isEnded ? 200 : 202, body: await shown(ctx, params.id, params.execution, language) };
    },
  }),
  route({
    method: 'GET',
    path: '/vms/{id}/execution-channel',
    operationId: 'getExecutionChannel',
    summary: 'Returns the AMQP channel over which a VM gets execution plans.',
    role: 'viewer',
    params: inVm,
    answers: { 200: { meaning: 'The channel.', schema: executionChannel } },
    refusals: [404],
    run: async (ctx, { params }) => ({ status: 200, body: await getChannel(ctx, { vmId: params.id }) }),
  }),
  route({
    method: 'PUT',
    path: '/vms/{id}/execution-channel',
    operationId: 'bindExecutionChannel',
    summary:
      'Binds a VM to AMQP: its execution plans are sent to a queue of the broker. Without `inputQueue`, the name of the queue is formed from the id of the VM.',
    role: 'admin',
    params: inVm,
    body: channelTerms,
    answers: { 200: { meaning: 'The channel.', schema: executionChannel } },
    refusals: [404, 409],
    run: async (ctx, { params, body }) => ({ status: 200, body: await bindChannel(ctx, { vmId: params.id, ...body }) }),
  }),
  route({
    method: 'DELETE',
    path: '/vms/{id}/execution-channel',
    operationId: 'unbindExecutionChannel',
    summary: 'Unbinds a VM from AMQP. Its agent then fetches execution plans over HTTPS.',
    role: 'admin',
    params: inVm,
    answers: { 204: { meaning: 'The VM is no longer bound.' } },
    refusals: [404, 409],
    run: async (ctx, { params }) => {
      await unbindChannel(ctx, { vmId: params.id });
      return { status: 204 };
    },
  }),
];

/** Waits a second before a followed log is read again. Returns the time. */
async function aSecond(): Promise<Date> {
  await delay(1_000);
  return new Date();
}

async function* linesOf(
  first: IteratorResult<LogRow[]>,
  rest: AsyncGenerator<LogRow[]>,
  format: 'text' | 'jsonl',
): AsyncGenerator<Uint8Array> {
  const pack = (rows: readonly LogRow[]) => Buffer.from(logLines(rows, format));
  if (first.done) return;
  yield pack(first.value);
  for await (const rows of rest) yield pack(rows);
}
