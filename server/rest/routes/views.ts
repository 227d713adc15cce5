import { z } from 'zod';
import { pageOf } from '#server/domain/answers.ts';
import { listReportHistory, pastReport } from '#server/domain/reports/index.ts';
import { getInstanceView, getVmQueue } from '#server/domain/views/index.ts';
import { shownQueue, translateQueue, translateRefusedFiles } from '#server/i18n/index.ts';
import { shownInstanceView } from '../answers.ts';
import { pageQuery, type RestRoute, route } from '../route.ts';
import { inVm } from '../shapes.ts';

export const viewRoutes: readonly RestRoute[] = [
  route({
    method: 'GET',
    path: '/vms/{id}/instance-view',
    operationId: 'getInstanceView',
    summary:
      'Returns the goal and latest reports of a VM, with messages in the language of Accept-Language. Only operators see output.',
    role: 'viewer',
    params: inVm,
    answers: {
      200: { meaning: 'The instance view; Content-Language names the languages used.', schema: shownInstanceView },
    },
    refusals: [404],
    run: async (ctx, { params, reader, language }) => {
      const view = await getInstanceView(ctx, { vmId: params.id, ...reader });
      const { languages, ...body } = translateRefusedFiles(view, language);
      return {
        status: 200,
        body,
        ...(languages.length > 0 && { headers: { 'content-language': languages.join(', ') } }),
      };
    },
  }),
  route({
    method: 'GET',
    path: '/vms/{id}/queue',
    operationId: 'getVmQueue',
    summary:
      'Returns the queue of a VM: the command, execution or hook that is running, what runs next, in order, and what waits, with the reasons.',
    role: 'viewer',
    params: inVm,
    answers: { 200: { meaning: 'The queue.', schema: shownQueue } },
    refusals: [404],
    run: async (ctx, { params, language }) => ({
      status: 200,
      body: translateQueue(await getVmQueue(ctx, { vmId: params.id }), language),
    }),
  }),
  route({
    method: 'GET',
    path: '/vms/{id}/reports',
    operationId: 'listReports',
    summary: 'Lists the reports of a VM as the agent sent them, newest first.',
    role: 'operator',
    params: inVm,
    query: pageQuery.omit({ q: true }).extend({ extension: z.string().max(64).optional() }),
    answers: { 200: { meaning: 'A page of reports.', schema: pageOf(pastReport) } },
    refusals: [],
    run: async (ctx, { params, query }) => ({
      status: 200,
      body: await listReportHistory(ctx, { vmId: params.id, ...query }),
    }),
  }),
];
