import { z } from 'zod';
import { givenText } from '#protocol/file.ts';
import { packageKinds } from '#protocol/formula-words.ts';
import { maxHandlerIdLength, parseHandlerId } from '#protocol/names.ts';
import { architectures, operatingSystems } from '#protocol/platform.ts';
import { parseVersion } from '#protocol/version.ts';

/** `<ProviderNamespace>.<Type>` */
export const handlerId = z
  .string()
  .max(maxHandlerIdLength)
  .refine((id) => parseHandlerId(id) !== null, 'handler_form');

export const handlerVersion = z
  .string()
  .max(64)
  .refine((version) => parseVersion(version) !== null, 'version_form');

/** A version to register. An invalid name is a fault (422). */
export const newVersionInput = z.object({ handler: handlerId, version: handlerVersion });

/** An existing version in any spelling (`1.0` is `1.0.0.0`). An invalid name counts as not found (404). */
export const versionReferenceInput = z.object({
  handler: z.string().max(maxHandlerIdLength),
  version: z.string().max(64),
});
export type VersionReferenceInput = z.input<typeof versionReferenceInput>;

/**
 * `file` is the result of `receiveUpload`. The verb owns it and always deletes it. Without `kind`, the package may be of
 * either kind.
 */
export const registerPackageInput = newVersionInput.extend({
  kind: z.enum(packageKinds).optional(),
  file: z.object({
    path: z.string().min(1),
    sha256: z.string().regex(/^[0-9a-f]{64}$/),
    size: z.number().int().min(0),
  }),
});
export type RegisterPackageInput = z.input<typeof registerPackageInput>;

/** `schema` is `{ publicSettings?: JSONSchema, protectedSettings?: JSONSchema }`, draft 2020-12. */
export const setSettingsSchemaInput = versionReferenceInput.extend({ schema: z.unknown() });
export type SetSettingsSchemaInput = z.input<typeof setSettingsSchemaInput>;

const platform = z
  .strictObject({
    os: z.enum(operatingSystems).optional(),
    arch: z.enum(architectures).optional(),
  })
  .refine(({ os, arch }) => os !== undefined || arch !== undefined, 'platform_empty');

/** An empty list means every platform. */
export const platformsInput = z.strictObject({ platforms: z.array(platform).max(16) });

export const setPlatformsInput = versionReferenceInput.extend(platformsInput.shape);
export type SetPlatformsInput = z.input<typeof setPlatformsInput>;

export const withdrawVersionInput = versionReferenceInput.extend({ reason: givenText(1000) });
export type WithdrawVersionInput = z.input<typeof withdrawVersionInput>;

/**
 * `q` is a part of a handler's id or of its publisher's name; `cursor` is `nextCursor` of the previous page. Without
 * `kind`, handlers and formulas are listed.
 */
export const listHandlersInput = z.object({
  kind: z.enum(packageKinds).optional(),
  q: z.string().max(200).optional(),
  limit: z.number().int().min(1).max(200).default(50),
  cursor: z.string().max(1000).optional(),
});
export type ListHandlersInput = z.input<typeof listHandlersInput>;

export const getHandlerInput = z.object({ handler: z.string().max(maxHandlerIdLength) });
export type GetHandlerInput = z.input<typeof getHandlerInput>;
