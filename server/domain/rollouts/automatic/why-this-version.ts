import { and, eq, sql } from 'drizzle-orm';
import { extensions } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import type { ExtensionRow } from '#server/domain/goal-states/index.ts';
import { parse } from '#server/domain/parse.ts';
import { type WhyThisVersionInput, whyThisVersionInput } from '../input.ts';
import type { RolloutReference, VersionExplanation } from './answers.ts';
import { heldBy, type NewerVersion } from './held-by.ts';
import { loadHoldFacts } from './hold-facts.ts';

/** Maximum number of versions in the answer. */
const most = 100;

/**
 * Explains why an extension has its version: what was requested, and what keeps the extension from each newer version.
 * Throws 404 `extension_absent`.
 */
export async function whyThisVersion(ctx: Context, input: WhyThisVersionInput): Promise<VersionExplanation> {
  allow(ctx.actor, 'viewer');
  const { vmId, name } = parse(whyThisVersionInput, input);
  const [row] = await ctx.db
    .select()
    .from(extensions)
    .where(and(eq(extensions.vmId, vmId), eq(extensions.name, name)));
  if (row === undefined) throw new DomainError('not_found', 'extension_absent', { params: { name } });
  const newer = await newerVersions(ctx, row);
  const facts = await loadHoldFacts(ctx, row, newer);
  const { handler, requestedVersion, version, autoUpgradeMinorVersion } = row;
  return {
    ...{ vmId, extension: name, handler, requestedVersion, version, autoUpgradeMinorVersion },
    upgradedBy: version === requestedVersion ? null : await upgradeOf(ctx, row),
    candidates: newer.map((candidate) => ({
      version: candidate.version,
      state: candidate.state,
      publishedAt: candidate.publishedAt,
      held: heldBy(row, candidate, facts),
    })),
  };
}

/** Returns the versions of the handler that are newer than the extension's, the highest first. */
async function newerVersions({ db }: Context, { handler, version }: ExtensionRow): Promise<NewerVersion[]> {
  const { rows } = await db.execute<{ version: string; state: 'published' | 'withdrawn'; at: string | null }>(sql`
    select n.version, n.state, n.published_at as at
      from handler_versions g join handler_versions n on n.handler = g.handler and n.version_key > g.version_key
     where g.handler = ${handler} and g.version = ${version} and n.state in ('published', 'withdrawn')
     order by n.version_key desc limit ${most}`);
  return rows.map(({ at, ...row }) => ({ ...row, publishedAt: at === null ? null : new Date(at).toISOString() }));
}

/** Returns the automatic rollout that gave the extension its version. */
async function upgradeOf({ db }: Context, { vmId, handler, version }: ExtensionRow): Promise<RolloutReference | null> {
  const { rows } = await db.execute<{ id: string; name: string; state: RolloutReference['state'] }>(sql`
    select r.id, r.name, r.state from rollouts r join rollout_steps s on s.rollout_id = r.id and s.vm_id = ${vmId}
     where r.kind = 'automatic' and r.handler = ${handler} and r.definition #>> '{change,version}' = ${version}
       and s.before_incarnation is not null
     order by r.created_at desc limit 1`);
  const [found] = rows;
  return found === undefined ? null : { ...found, kind: 'automatic' };
}
