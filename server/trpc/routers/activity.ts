import { negotiate } from '#protocol/index.ts';
import {
  countNewerActs,
  getAct,
  getActivityChain,
  getActivityCounts,
  getActivityFacets,
  getLastVisit,
  listActivity,
  listFeed,
} from '#server/domain/views/activity/index.ts';
import type { ListActivityInput, ListFeedInput } from '#server/domain/views/input.ts';
import { type CallContext, pagedQuery, plainQuery, query, router } from '../trpc.ts';

const listInWords = (ctx: CallContext, input: ListActivityInput) => listActivity(ctx, input, negotiate(ctx.reader));
const feedInWords = (ctx: CallContext, input: ListFeedInput) => listFeed(ctx, input, negotiate(ctx.reader));

export const activityRouter = router({
  list: pagedQuery(listInWords),
  feed: pagedQuery(feedInWords),
  counts: query(getActivityCounts),
  lastVisit: plainQuery(getLastVisit),
  countNewer: query(countNewerActs),
  get: query(getAct),
  facets: query(getActivityFacets),
  chain: plainQuery(getActivityChain),
});
