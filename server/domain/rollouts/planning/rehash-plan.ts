import { asc, eq } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { rolloutMembers } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import type { Definition } from '#server/domain/rollout-rules/stored.ts';
import { canonicalJson } from '#server/platform/canonical-json.ts';
import type { StoredRollout } from '../rows.ts';
import { openGiven } from '../secrets.ts';
import { isHashOf, membersDigest, planHash, readVersion } from './plan-hash.ts';

/** Returns the stored members of a rollout, in order. */
export const readMembers = (tx: Transaction, id: string) =>
  tx
    .select()
    .from(rolloutMembers)
    .where(eq(rolloutMembers.rolloutId, id))
    .orderBy(asc(rolloutMembers.ring), asc(rolloutMembers.first));

type Chunks = Awaited<ReturnType<typeof readMembers>>;

/** Returns the digest of the stored members of a rollout, ring by ring. */
export const digestOf = ({ rings }: Definition, chunks: Chunks): string =>
  membersDigest(rings.map((_, ring) => chunks.filter((chunk) => chunk.ring === ring)));

/**
 * Returns what changes in a rollout whose plan stays valid although its definition is edited: the plan's hash,
 * including in the approvals of the plan. Changes nothing if the hash was no longer the hash of the plan.
 */
export async function rehashPlan(
  tx: Transaction,
  ctx: Context,
  row: StoredRollout,
  definition: Definition,
): Promise<Partial<Pick<StoredRollout, 'plan' | 'planHash' | 'approvals'>>> {
  const { id, plan, planHash: before } = row;
  if (canonicalJson(definition) === canonicalJson(row.definition)) return {};
  const hashed = {
    ...{ rolloutId: id, definition: row.definition, given: openGiven(ctx, row) },
    version: await readVersion(tx, row.definition),
    members: digestOf(row.definition, await readMembers(tx, id)),
  };
  if (plan === null || before === null || !isHashOf(ctx, before, hashed)) return {};
  const hash = planHash(ctx, { ...hashed, definition });
  const approvals = row.approvals.map((one) => (one.planHash === before ? { ...one, planHash: hash } : one));
  return { plan: { ...plan, hash }, planHash: hash, approvals };
}

/**
 * Returns a new hash of the plan of a rollout whose definition was edited. Approvals of the earlier hash do not count.
 */
export async function renewHash(
  tx: Transaction,
  ctx: Context,
  row: StoredRollout,
  definition: Definition,
): Promise<Partial<Pick<StoredRollout, 'plan' | 'planHash'>>> {
  if (row.plan === null) return {};
  const hash = planHash(ctx, {
    ...{ rolloutId: row.id, definition, given: openGiven(ctx, row) },
    version: await readVersion(tx, definition),
    members: digestOf(definition, await readMembers(tx, row.id)),
  });
  return { plan: { ...row.plan, hash }, planHash: hash };
}
