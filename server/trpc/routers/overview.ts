import {
  getFleetMap,
  getFleetSummary,
  getMapCell,
  listDeadlines,
  listFailingTogether,
  listFleetEvents,
  listHealthChanges,
} from '#server/domain/views/index.ts';
import { type CallContext, plainQuery, query, router } from '../trpc.ts';

const listFailing = (ctx: CallContext) =>
  listFailingTogether(ctx, { acceptLanguage: ctx.headers.get('accept-language') });

export const overviewRouter = router({
  summary: plainQuery(getFleetSummary),
  map: query(getFleetMap),
  cell: query(getMapCell),
  failing: plainQuery(listFailing),
  changes: plainQuery(listHealthChanges),
  deadlines: plainQuery(listDeadlines),
  events: plainQuery(listFleetEvents),
});
