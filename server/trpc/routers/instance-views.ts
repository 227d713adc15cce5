import { listLatestReports, listReportHistory } from '#server/domain/reports/index.ts';
import { getInstanceView, getTimeline, type InstanceViewInput } from '#server/domain/views/index.ts';
import { type CallContext, pagedQuery, query, router } from '../trpc.ts';

const inTheReadersLanguage = (ctx: CallContext, input: Pick<InstanceViewInput, 'vmId'>) =>
  getInstanceView(ctx, { vmId: input?.vmId, ...ctx.reader });

export const instanceViewsRouter = router({
  get: query(inTheReadersLanguage),
  timeline: query(getTimeline),
  latest: query(listLatestReports),
  history: pagedQuery(listReportHistory),
});
