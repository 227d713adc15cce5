import { z } from 'zod';
import { allow } from '#server/domain/actor.ts';
import { count, instant } from '#server/domain/answers.ts';
import type { Context } from '#server/domain/context.ts';
import { parse } from '#server/domain/parse.ts';
import { requireVersion } from './find-version.ts';
import { platformsInput, type VersionReferenceInput, versionReferenceInput } from './input.ts';
import { registeredPackage } from './register-package.ts';
import { settingsSchema } from './set-settings-schema.ts';

/** A registered version. If `platforms` is empty, it supports every platform. */
export const versionDetails = registeredPackage.omit({ created: true }).extend({
  manifestText: z.string(),
  files: z.array(z.object({ name: z.string(), size: count, mode: count.nullable() })),
  settingsSchema: settingsSchema.nullable(),
  /** The version from which the schema was carried over; null if a publisher set it for this version. */
  settingsSchemaFrom: z.string().nullable(),
  ...platformsInput.shape,
  createdAt: instant,
  createdBy: z.string(),
  publishedAt: instant.nullable(),
  withdrawnAt: instant.nullable(),
  withdrawnReason: z.string().nullable(),
  /**
   * Whether the stored package is missing or has the wrong length. Uploading the same zip again restores the package.
   */
  isDamaged: z.boolean(),
});
export type VersionDetails = z.infer<typeof versionDetails>;

/** Returns all data of a version: manifest and its text, files, warnings, schema, state. Throws 404. */
export async function getVersion(ctx: Context, input: VersionReferenceInput): Promise<VersionDetails> {
  allow(ctx.actor, 'viewer');
  const { versionKey: _, ...details } = await requireVersion(ctx.db, parse(versionReferenceInput, input));
  return {
    ...details,
    platforms: details.platforms ?? [],
    isDamaged: (await ctx.blobs.size(details.sha256)) !== details.size,
  };
}
