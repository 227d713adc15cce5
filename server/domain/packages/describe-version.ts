import type { Context } from '#server/domain/context.ts';
import { fitList, fitWarnings, leftOutOf } from '#server/domain/list-bytes.ts';
import { getVersion, type VersionDetails } from './get-version.ts';
import type { VersionReferenceInput } from './input.ts';

/** A version whose lists are bounded; `leftOut` counts files that are not listed. */
export type DescribedVersion = VersionDetails & { leftOut?: { files?: number } };

/** A version for readers: its files and warnings as far as they fit into an answer. Throws 404. */
export async function describeVersion(ctx: Context, input: VersionReferenceInput): Promise<DescribedVersion> {
  const { files, warnings, ...version } = await getVersion(ctx, input);
  const { kept, leftOut } = fitList(files);
  return { ...version, files: kept, warnings: fitWarnings(warnings), ...leftOutOf({ files: leftOut }) };
}
