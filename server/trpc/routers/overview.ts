import { negotiate } from '#protocol/index.ts';
import { listActivity } from '#server/domain/views/activity/index.ts';
import {
  getFirstSteps,
  getFleetMap,
  getFleetSummary,
  getMapCell,
  getRolloutMap,
  listDeadlines,
  listFailingTogether,
  listFleetEvents,
  listHealthChanges,
} from '#server/domain/views/index.ts';
import { type CallContext, plainQuery, query, router } from '../trpc.ts';

const listFailing = (ctx: CallContext) => listFailingTogether(ctx, ctx.reader);

/** Returns the six newest entries. The activity page shows all entries. */
const listRecentActs = async (ctx: CallContext) => (await listActivity(ctx, { limit: 6 }, negotiate(ctx.reader))).items;

export const overviewRouter = router({
  acts: plainQuery(listRecentActs),
  firstSteps: plainQuery(getFirstSteps),
  summary: plainQuery(getFleetSummary),
  map: query(getFleetMap),
  cell: query(getMapCell),
  mapOfRollout: query(getRolloutMap),
  failing: plainQuery(listFailing),
  changes: plainQuery(listHealthChanges),
  deadlines: plainQuery(listDeadlines),
  events: plainQuery(listFleetEvents),
});
