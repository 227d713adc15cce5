import { describeResources, getCoverage, previewMessage } from '#server/domain/localization/index.ts';
import { query, router } from '../trpc.ts';

/** Resource files. The pages' upload routes store them, because a file with 20,000 messages is too large for tRPC. */
export const resourcesRouter = router({
  get: query(describeResources),
  coverage: query(getCoverage),
  preview: query(previewMessage),
});
