import { z } from 'zod';
import { unitFolderName } from '#protocol/unit-names.ts';
import { count, pageOf } from '#server/domain/answers.ts';
import { runOutcomes } from '#server/domain/service-rules/words.ts';
import {
  downloadRunOutput,
  dueHook,
  getDue,
  getRun,
  hookRun,
  hookRunDetails,
  listRuns,
  readRunOutput,
} from '#server/domain/services/index.ts';
import { pageQuery, type RestRoute, route } from '../route.ts';
import { inUnit } from '../shapes.ts';

const inRun = inUnit.extend({ run: z.uuid() });
const named = ({ model, service, number }: z.output<typeof inUnit>) => ({ model, unit: `${service}/${number}` });

/** A row of a run's output. */
const outputRow = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('line'), text: z.string(), more: count.optional() }),
  z.object({ kind: z.literal('gap'), bytes: count.describe('Number of bytes that have not arrived.') }),
]);

/** Responds with a run's output as a file. Pages use this route for downloads, too. */
const downloadRoute: RestRoute = route({
  method: 'GET',
  path: '/models/{model}/units/{service}/{number}/runs/{run}/log',
  operationId: 'downloadHookRunOutput',
  summary: 'Downloads the whole output of a run. A line marks each part that has not arrived.',
  role: 'operator',
  params: inRun,
  answers: { 200: { meaning: 'The output.', types: ['text/plain'] } },
  refusals: [404],
  run: async (ctx, { params: { run: id, ...unit } }) => {
    const { run, bytes } = await downloadRunOutput(ctx, { ...named(unit), run: id });
    const name = `${unitFolderName(run.unit)}-${run.number}-${run.hook}.txt`;
    const headers = {
      'content-type': 'text/plain; charset=utf-8',
      'content-disposition': `attachment; filename="${name}"`,
    };
    return { status: 200, bytes, headers };
  },
});

export const unitRunFileRoutes: readonly RestRoute[] = [downloadRoute];

export const unitRunRoutes: readonly RestRoute[] = [
  route({
    method: 'GET',
    path: '/models/{model}/units/{service}/{number}/due',
    operationId: 'listDueHooks',
    summary: 'Lists the hooks that are due on a unit, in the order in which its agent runs them, each with its reason.',
    role: 'viewer',
    params: inUnit,
    answers: {
      200: { meaning: 'The hooks.', schema: z.object({ items: z.array(dueHook), nextCursor: z.null() }) },
    },
    refusals: [404],
    run: async (ctx, { params }) => ({
      status: 200,
      body: { ...(await getDue(ctx, named(params))), nextCursor: null },
    }),
  }),
  route({
    method: 'GET',
    path: '/models/{model}/units/{service}/{number}/runs',
    operationId: 'listHookRuns',
    summary: 'Lists the runs of a unit’s hooks, newest first.',
    role: 'viewer',
    params: inUnit,
    query: pageQuery.omit({ q: true }).extend({
      hook: z.string().max(128).optional(),
      outcome: z.enum(runOutcomes).optional(),
    }),
    answers: { 200: { meaning: 'A page of runs.', schema: pageOf(hookRun) } },
    refusals: [404],
    run: async (ctx, { params, query }) => ({ status: 200, body: await listRuns(ctx, { ...named(params), ...query }) }),
  }),
  route({
    method: 'GET',
    path: '/models/{model}/units/{service}/{number}/runs/{run}',
    operationId: 'getHookRun',
    summary:
      'Returns a run of a hook, with the chain of causes up to the act of an operator, what it read and stored, and its reason in the language of Accept-Language.',
    role: 'viewer',
    params: inRun,
    answers: { 200: { meaning: 'The run.', schema: hookRunDetails } },
    refusals: [404],
    run: async (ctx, { params: { run, ...unit }, reader }) => ({
      status: 200,
      body: await getRun(ctx, { ...named(unit), run }, reader),
    }),
  }),
  route({
    method: 'GET',
    path: '/models/{model}/units/{service}/{number}/runs/{run}/output',
    operationId: 'readHookRunOutput',
    summary: 'Returns rows of the output of a run, even while the hook runs.',
    role: 'operator',
    params: inRun,
    query: z.object({
      row: z.coerce.number().int().min(0).optional().describe('The first row, counted from 0.'),
      count: z.coerce.number().int().min(1).max(500).optional(),
    }),
    answers: {
      200: {
        meaning: 'Rows of the output.',
        schema: z.object({
          ...{ row: count, rows: z.array(outputRow), total: count.describe('Number of rows so far.') },
          missing: count.describe('Number of bytes that have not arrived.'),
        }),
      },
    },
    refusals: [404],
    run: async (ctx, { params: { run, ...unit }, query }) => ({
      status: 200,
      body: await readRunOutput(ctx, { ...named(unit), run, ...query }),
    }),
  }),
  ...unitRunFileRoutes,
];
