import { publishVersion } from '#server/domain/localization/index.ts';
import {
  deleteDraft,
  describeVersion,
  listDrafts,
  setSettingsSchema,
  withdrawVersion,
} from '#server/domain/packages/index.ts';
import type { VersionReferenceInput } from '#server/domain/packages/input.ts';
import { shownWarnings } from '#server/i18n/index.ts';
import { type CallContext, mutation, plainQuery, query, router } from '../trpc.ts';

/** Returns a version with its warnings in the user's language. */
async function getInWords(ctx: CallContext, input: VersionReferenceInput) {
  const { warnings, ...version } = await describeVersion(ctx, input);
  return { ...version, warnings: shownWarnings(warnings, ctx.language) };
}

/** Handler versions. Zips are uploaded as streams, through another entry point. */
export const packagesRouter = router({
  get: query(getInWords),
  drafts: plainQuery(listDrafts),
  setSettingsSchema: mutation(setSettingsSchema),
  publish: mutation(publishVersion),
  withdraw: mutation(withdrawVersion),
  remove: mutation(deleteDraft),
});
