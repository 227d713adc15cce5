import type { Platform } from '#protocol/platform.ts';
import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { parse } from '#server/domain/parse.ts';
import { requireVersion, type VersionRow } from './find-version.ts';
import { type VersionReferenceInput, versionReferenceInput } from './input.ts';

export interface VersionDetails extends Omit<VersionRow, 'versionKey' | 'platforms'> {
  /** Empty: every platform. */
  platforms: Platform[];
  /** The stored package is missing or has another length; uploading the same zip again restores it. */
  isDamaged: boolean;
}

/** All data of a version: manifest and its text, files, warnings, schema, state. Throws 404. */
export async function getVersion(ctx: Context, input: VersionReferenceInput): Promise<VersionDetails> {
  allow(ctx.actor, 'viewer');
  const { versionKey: _, ...details } = await requireVersion(ctx.db, parse(versionReferenceInput, input));
  return {
    ...details,
    platforms: details.platforms ?? [],
    isDamaged: (await ctx.blobs.size(details.sha256)) !== details.size,
  };
}
