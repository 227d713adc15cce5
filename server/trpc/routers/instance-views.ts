import { listLatestReports, listReportHistory } from '#server/domain/reports/index.ts';
import { getInstanceView, getTimeline, type InstanceViewInput } from '#server/domain/views/index.ts';
import { translateRefusedFiles } from '#server/i18n/index.ts';
import { type CallContext, pagedQuery, query, router } from '../trpc.ts';

const inTheReadersLanguage = async (ctx: CallContext, input: Pick<InstanceViewInput, 'vmId'>) =>
  translateRefusedFiles(await getInstanceView(ctx, { vmId: input?.vmId, ...ctx.reader }), ctx.language);

export const instanceViewsRouter = router({
  get: query(inTheReadersLanguage),
  timeline: query(getTimeline),
  latest: query(listLatestReports),
  history: pagedQuery(listReportHistory),
});
