import { countFleet, listFleet, listFleetFacets, readFleetRows, summarizeFleet } from '#server/domain/views/index.ts';
import { pagedQuery, plainQuery, query, router } from '../trpc.ts';

export const fleetRouter = router({
  list: pagedQuery(listFleet),
  count: query(countFleet),
  summary: plainQuery(summarizeFleet),
  facets: query(listFleetFacets),
  rows: query(readFleetRows),
});
