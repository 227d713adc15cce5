import { getResources, previewMessage, setResources } from '#server/domain/localization/index.ts';
import { mutation, query, router } from '../trpc.ts';

export const resourcesRouter = router({
  get: query(getResources),
  preview: query(previewMessage),
  set: mutation(setResources),
});
