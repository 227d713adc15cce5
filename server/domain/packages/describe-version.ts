import type { Context } from '#server/domain/context.ts';
import { fitList, fitWarnings, leftOutOf } from '#server/domain/list-bytes.ts';
import { getVersion, type VersionDetails } from './get-version.ts';
import type { VersionReferenceInput } from './input.ts';

/** A version with bounded lists; `leftOut` counts files that are not listed. */
export type DescribedVersion = VersionDetails & { leftOut?: { files?: number } };

/** A version for readers, with as many files and warnings as fit into a response. Throws 404. */
export async function describeVersion(ctx: Context, input: VersionReferenceInput): Promise<DescribedVersion> {
  const { files, warnings, ...version } = await getVersion(ctx, input);
  const { kept, leftOut } = fitList(files);
  return { ...version, files: kept, warnings: fitWarnings(warnings), ...leftOutOf({ files: leftOut }) };
}
