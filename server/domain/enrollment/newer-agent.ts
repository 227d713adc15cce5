import { type SQL, sql } from 'drizzle-orm';
import { compareVersions, parseVersion } from '#protocol/index.ts';
import { releaseVersion } from '#server/platform/release.ts';

/** Name under which the agent from this repository enrolls. Third-party agents use other names. */
const servedAgentName = 'annex-agent';

/**
 * Returns the version of the agent from this repository if it is newer than this agent; otherwise, and for third-party
 * agents, null.
 */
export function newerAgentVersion(agent: { name: string | null; version: string | null }): string | null {
  if (agent.name !== servedAgentName || agent.version === null || parseVersion(agent.version) === null) return null;
  return compareVersions(agent.version, releaseVersion) < 0 ? releaseVersion : null;
}

/** `newerAgentVersion` as a condition on a row of `agents`. A test compares the two. */
export const outdatedAgentSql = (row: SQL): SQL => sql`(${row}.name = ${servedAgentName}
  and case when ${row}.version ~ ${String.raw`^\d{1,9}(\.\d{1,9}){0,3}$`}
    then (string_to_array(${row}.version, '.')::int[] || array[0, 0, 0])[1:4]
      < (string_to_array(${releaseVersion}, '.')::int[] || array[0, 0, 0])[1:4]
    else false end)`;
