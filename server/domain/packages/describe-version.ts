import type { z } from 'zod';
import { leftOut } from '#server/domain/answers.ts';
import type { Context } from '#server/domain/context.ts';
import { fitList, fitWarnings, leftOutOf } from '#server/domain/list-bytes.ts';
import { getVersion, versionDetails } from './get-version.ts';
import type { VersionReferenceInput } from './input.ts';

/** A version whose lists are limited in size; `leftOut` counts the files that are not listed. */
export const describedVersion = versionDetails.extend({ leftOut: leftOut('files') });
export type DescribedVersion = z.infer<typeof describedVersion>;

/** Returns a version with as many files and warnings as fit into a response. Throws 404. */
export async function describeVersion(ctx: Context, input: VersionReferenceInput): Promise<DescribedVersion> {
  const { files, warnings, ...version } = await getVersion(ctx, input);
  const { kept, leftOut: omitted } = fitList(files);
  return { ...version, files: kept, warnings: fitWarnings(warnings), ...leftOutOf({ files: omitted }) };
}
