import {
  countNewerActs,
  getAct,
  getActivityChain,
  getActivityFacets,
  listActivity,
} from '#server/domain/views/activity/index.ts';
import { pagedQuery, plainQuery, query, router } from '../trpc.ts';

export const activityRouter = router({
  list: pagedQuery(listActivity),
  countNewer: query(countNewerActs),
  get: query(getAct),
  facets: query(getActivityFacets),
  chain: plainQuery(getActivityChain),
});
