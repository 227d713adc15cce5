import { countFleet, listFleetFacets, listFleetFields, summarizeFleet } from '#server/domain/fleet/index.ts';
import { listFleet, readFleetRows } from '#server/domain/views/index.ts';
import { pagedQuery, plainQuery, query, router } from '../trpc.ts';

export const fleetRouter = router({
  list: pagedQuery(listFleet),
  count: query(countFleet),
  summary: plainQuery(summarizeFleet),
  facets: query(listFleetFacets),
  fields: plainQuery(listFleetFields),
  rows: query(readFleetRows),
});
