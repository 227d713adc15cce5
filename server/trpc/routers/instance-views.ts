import { listLatestReports, listReportHistory } from '#server/domain/reports/index.ts';
import {
  getInstanceView,
  getTimeline,
  getVmQueue,
  type InstanceViewInput,
  listSilentTogether,
} from '#server/domain/views/index.ts';
import { translateQueue, translateRefusedFiles } from '#server/i18n/index.ts';
import { type CallContext, pagedQuery, query, router } from '../trpc.ts';

const inTheReadersLanguage = async (ctx: CallContext, input: Pick<InstanceViewInput, 'vmId'>) =>
  translateRefusedFiles(await getInstanceView(ctx, { vmId: input?.vmId, ...ctx.reader }), ctx.language);

const queueInTheReadersLanguage = async (ctx: CallContext, input: Parameters<typeof getVmQueue>[1]) =>
  translateQueue(await getVmQueue(ctx, input), ctx.language);

export const instanceViewsRouter = router({
  get: query(inTheReadersLanguage),
  queue: query(queueInTheReadersLanguage),
  silentTogether: query(listSilentTogether),
  timeline: query(getTimeline),
  latest: query(listLatestReports),
  history: pagedQuery(listReportHistory),
});
