import compare from 'semver/functions/rcompare.js';
import type { VersionState } from '#db/schema/index.ts';

/**
 * The states of a version. Only a draft can be changed. Running a draft requires the grant `scripts`; a withdrawn
 * version cannot be run.
 */
export const versionStates = ['draft', 'published', 'withdrawn'] as const satisfies readonly VersionState[];

/** Sorts versions from the newest to the oldest. */
export function newestFirst<V extends { version: string }>(versions: readonly V[]): V[] {
  return versions.toSorted((a, b) => compare(a.version, b.version));
}

/**
 * Returns the version that represents the runbook in lists and runs by default: the newest published one. If none is
 * published, returns the newest version; undefined if there are no versions.
 */
export function leadingVersion<V extends { version: string; state: VersionState }>(
  versions: readonly V[],
): V | undefined {
  const sorted = newestFirst(versions);
  return sorted.find(({ state }) => state === 'published') ?? sorted[0];
}
