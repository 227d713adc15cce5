import { publishVersion } from '#server/domain/localization/index.ts';
import { deleteDraft, getVersion, setSettingsSchema, withdrawVersion } from '#server/domain/packages/index.ts';
import { mutation, query, router } from '../trpc.ts';

/** Versions of handlers. Their zips come in by the upload door, as a stream. */
export const packagesRouter = router({
  get: query(getVersion),
  setSettingsSchema: mutation(setSettingsSchema),
  publish: mutation(publishVersion),
  withdraw: mutation(withdrawVersion),
  remove: mutation(deleteDraft),
});
