import { createHash, randomBytes } from 'node:crypto';
import { sql } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import type { Context } from '#server/domain/context.ts';
import { readRunFacts } from '#server/domain/executions/index.ts';
import type { Definition } from '#server/domain/rollout-rules/stored.ts';
import { canonicalJson } from '#server/platform/canonical-json.ts';
import { keyedDigest, sameBytes } from '#server/platform/keys.ts';
import { runTermsOf } from '../run-terms.ts';
import type { MemberChunk } from './member-chunks.ts';

/** Everything that decides what a plan does. */
export interface HashedPlan {
  rolloutId: string;
  definition: Definition;
  /** The protected settings of the change; undefined without them. */
  given: unknown;
  version: VersionFacts | null;
  /** The members in order: for each ring its rows of `rollout_members`. */
  members: string;
}

/** The facts of a version that decide what declaring or running it does. For a runbook, `schema` has its files. */
export interface VersionFacts extends Record<string, unknown> {
  sha256: string;
  state: string;
  schema: unknown;
}

const nonceBytes = 12;

/**
 * Returns a nonce and a keyed digest. Because of the nonce, two plans of the same change have different hashes, so
 * guessed secrets cannot be confirmed by comparing hashes.
 */
export const planHash = (ctx: Pick<Context, 'keys'>, plan: HashedPlan): string =>
  hashWith(ctx, plan, randomBytes(nonceBytes)).toString('base64url');

/** Whether a hash is the hash of this plan. */
export function isHashOf(ctx: Pick<Context, 'keys'>, hash: string, plan: HashedPlan): boolean {
  const given = Buffer.from(hash, 'base64url');
  return sameBytes(given, hashWith(ctx, plan, given.subarray(0, nonceBytes)));
}

function hashWith({ keys }: Pick<Context, 'keys'>, plan: HashedPlan, nonce: Buffer): Buffer {
  const { rolloutId, members, version, given = null } = plan;
  const { select, change, rings, ...rest } = plan.definition;
  const text = canonicalJson({ rolloutId, select, change, rings, rest, given, version, members });
  return Buffer.concat([nonce, keyedDigest(keys.plan, nonce.toString('hex'), text)]);
}

/** Returns a digest of the members of each ring, in order, with their kinds. */
export function membersDigest(rings: readonly (readonly Pick<MemberChunk, 'vmIds' | 'kinds'>[])[]): string {
  const digest = createHash('sha256');
  rings.forEach((chunks, ring) => {
    digest.update(`ring ${ring}:`);
    for (const { vmIds, kinds } of chunks) digest.update(vmIds.join(',')).update(kinds);
  });
  return digest.digest('hex');
}

/** Returns the facts of the version that the change declares or runs; null if it has none. */
export async function readVersion(tx: Transaction, definition: Definition): Promise<VersionFacts | null> {
  const terms = runTermsOf(definition);
  if (terms !== null) {
    const { files, ...facts } = await readRunFacts(tx, terms);
    return { ...facts, schema: files.map(({ file, sha256 }) => ({ file, sha256 })) };
  }
  const { handler, version } = definition.change;
  if (handler === null || version === null) return null;
  const { rows } = await tx.execute<VersionFacts>(sql`
    select sha256, state, settings_schema as schema from handler_versions
    where handler = ${handler} and version = ${version}`);
  return rows[0] ?? null;
}
