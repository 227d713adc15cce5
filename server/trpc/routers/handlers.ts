import { getHandlerOverview } from '#server/domain/views/get-handler-overview.ts';
import { listCatalogue } from '#server/domain/views/list-catalogue.ts';
import { pagedQuery, query, router } from '../trpc.ts';

export const handlersRouter = router({
  list: pagedQuery(listCatalogue),
  get: query(getHandlerOverview),
});
