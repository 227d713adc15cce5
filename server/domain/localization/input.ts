import { z } from 'zod';

/** A handler version. `handler` is `<ProviderNamespace>.<Type>`; `version` can have any spelling. */
export const versionReference = z.object({ handler: z.string().min(1).max(192), version: z.string().min(1).max(64) });
export type VersionReference = z.input<typeof versionReference>;

/** Revision of a language; 0 if the language does not exist. */
const revision = z.number().int().min(0).optional();

/**
 * `lang` is part of the URL. `file` is the resource file as parsed JSON: an array of one object. With `revision`, the
 * request is rejected if the language has changed since.
 */
export const setResourcesInput = versionReference.extend({
  lang: z.string().min(1).max(100),
  file: z.unknown(),
  revision,
});
export type SetResourcesInput = z.input<typeof setResourcesInput>;

export const getResourcesInput = versionReference;
export type GetResourcesInput = VersionReference;

/** `cursor` is `nextCursor` of the previous page. */
export const listLanguagesInput = versionReference.extend({
  limit: z.number().int().min(1).max(1_000).default(1_000),
  cursor: z.string().max(200).optional(),
});
export type ListLanguagesInput = z.input<typeof listLanguagesInput>;

export const publishVersionInput = versionReference;
export type PublishVersionInput = VersionReference;

export const carryOverInput = versionReference;
export type CarryOverInput = VersionReference;

/**
 * A message as a handler would send it, and the readers to preview it for. Each reader is a language or an
 * Accept-Language header.
 */
export const previewMessageInput = versionReference.extend({
  message: z
    .object({ id: z.string().max(1024), params: z.array(z.string().max(1024)).max(100).default([]) })
    .optional(),
  formattedMessage: z.object({ lang: z.string().max(100), message: z.string().max(16_384) }).optional(),
  readers: z.array(z.string().max(1000)).min(1).max(20),
});
export type PreviewMessageInput = z.input<typeof previewMessageInput>;

/** `lang` is the reader's language. For `en`, the result lists ids without an English message. */
export const listUnknownMessagesInput = z.object({
  handler: z.string().min(1).max(192),
  lang: z.string().min(1).max(100).default('en'),
});
export type ListUnknownMessagesInput = z.input<typeof listUnknownMessagesInput>;

const xliffVersion = z.enum(['2.1', '1.2']);

/** `lang` is the target language; the source is always English. */
export const exportXliffInput = versionReference.extend({
  lang: z.string().min(1).max(100),
  xliff: xliffVersion.default('2.1'),
});
export type ExportXliffInput = z.input<typeof exportXliffInput>;

/** `file` contains the bytes of a translator's file. With `dryRun`, nothing is stored. */
export const importXliffInput = versionReference.extend({
  lang: z.string().min(1).max(100),
  file: z.instanceof(Uint8Array),
  dryRun: z.boolean().default(false),
  revision,
});
export type ImportXliffInput = z.input<typeof importXliffInput>;
