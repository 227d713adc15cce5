import { countFleet, listFleetFacets, listFleetFields, summarizeFleet } from '#server/domain/fleet/index.ts';
import { type ListFleetInput, listFleet, type ReadFleetRowsInput, readFleetRows } from '#server/domain/views/index.ts';
import { type CallContext, pagedQuery, plainQuery, query, router } from '../trpc.ts';

const list = (ctx: CallContext, input: ListFleetInput) => listFleet(ctx, { ...input, ...ctx.reader });
const rows = (ctx: CallContext, input: ReadFleetRowsInput) => readFleetRows(ctx, { ...input, ...ctx.reader });

export const fleetRouter = router({
  list: pagedQuery(list),
  count: query(countFleet),
  summary: plainQuery(summarizeFleet),
  facets: query(listFleetFacets),
  fields: plainQuery(listFleetFields),
  rows: query(rows),
});
