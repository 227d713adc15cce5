import { eq } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { rolloutMembers, rolloutRings, rollouts } from '#db/schema/index.ts';
import { recordChange } from '#server/domain/changes/index.ts';
import type { Context } from '#server/domain/context.ts';
import { emptyCounts } from '#server/domain/rollout-rules/counts.ts';
import type { StoredRollout } from '../rows.ts';
import type { MadePlan } from './make-plan.ts';
import type { MemberChunk } from './member-chunks.ts';

/** Number of rows of members that are written together. */
const rowsAtOnce = 16;

/**
 * Stores a plan with its rings and members, in place of the earlier one. Approvals of the earlier plan become invalid.
 */
export async function storePlan(
  tx: Transaction,
  ctx: Context,
  { id }: StoredRollout,
  { plan, rings }: MadePlan,
  values: Partial<typeof rollouts.$inferInsert>,
): Promise<void> {
  await tx.delete(rolloutMembers).where(eq(rolloutMembers.rolloutId, id));
  await tx.delete(rolloutRings).where(eq(rolloutRings.rolloutId, id));
  let first = 0;
  for (const [ring, { stats, chunks }] of rings.entries()) {
    const counts = emptyCounts();
    await tx
      .insert(rolloutRings)
      .values({ rolloutId: id, ring, state: 'waiting', first, size: stats.size, plan: stats, counts });
    await insertChunks(tx, id, ring, chunks);
    first += stats.size;
  }
  await tx
    .update(rollouts)
    .set({ plan, planHash: plan.hash, plannedAt: ctx.now, members: plan.members, approvals: [], ...values })
    .where(eq(rollouts.id, id));
  await recordChange(tx, 'rollout', id);
}

/** Stores the members of a ring. */
export async function insertChunks(
  tx: Transaction,
  rolloutId: string,
  ring: number,
  chunks: readonly MemberChunk[],
): Promise<void> {
  for (let at = 0; at < chunks.length; at += rowsAtOnce) {
    const rows = chunks.slice(at, at + rowsAtOnce).map((chunk) => ({ rolloutId, ring, ...chunk }));
    await tx.insert(rolloutMembers).values(rows);
  }
}
