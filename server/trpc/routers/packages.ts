import { negotiate } from '#protocol/index.ts';
import {
  describeSettings,
  messagesOfSchema,
  publishSample,
  publishVersion,
} from '#server/domain/localization/index.ts';
import {
  deleteDraft,
  describeVersion,
  listDrafts,
  setSettingsSchema,
  withdrawVersion,
} from '#server/domain/packages/index.ts';
import type { VersionReferenceInput } from '#server/domain/packages/input.ts';
import { listLosses } from '#server/domain/views/list-losses.ts';
import { shownWarnings } from '#server/i18n/index.ts';
import { type CallContext, mutation, plainMutation, plainQuery, query, router } from '../trpc.ts';

/**
 * Returns a version with its warnings and the texts of its settings in the user's language. `settingMessages` contains
 * the original texts, as messages that can be translated.
 */
async function getInWords(ctx: CallContext, input: VersionReferenceInput) {
  const { warnings, ...version } = await describeVersion(ctx, input);
  const settingWords = await describeSettings(ctx.db, version, negotiate(ctx.reader));
  const settingMessages = messagesOfSchema(version.settingsSchema);
  return { ...version, settingWords, settingMessages, warnings: shownWarnings(warnings, ctx.language) };
}

/** Handler versions. Zips are uploaded as streams, through another entry point. */
export const packagesRouter = router({
  get: query(getInWords),
  drafts: plainQuery(listDrafts),
  losses: query(listLosses),
  setSettingsSchema: mutation(setSettingsSchema),
  publish: mutation(publishVersion),
  publishSample: plainMutation(publishSample),
  withdraw: mutation(withdrawVersion),
  remove: mutation(deleteDraft),
});
