import { listUnknownMessages } from '#server/domain/localization/index.ts';
import { compareVersions } from '#server/domain/views/compare-versions.ts';
import { getAdoption } from '#server/domain/views/get-adoption.ts';
import { getHandlerOverview } from '#server/domain/views/get-handler-overview.ts';
import { listCatalogue } from '#server/domain/views/list-catalogue.ts';
import { pagedQuery, query, router } from '../trpc.ts';

export const handlersRouter = router({
  list: pagedQuery(listCatalogue),
  get: query(getHandlerOverview),
  adoption: query(getAdoption),
  compare: query(compareVersions),
  unknownMessages: query(listUnknownMessages),
});
