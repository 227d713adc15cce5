import { eq } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { rolloutMembers, rolloutRings, rollouts } from '#db/schema/index.ts';
import { recordChange } from '#server/domain/changes/index.ts';
import type { Context } from '#server/domain/context.ts';
import { emptyCounts } from '#server/domain/rollout-rules/counts.ts';
import type { MadePlan } from './make-plan.ts';
import type { PlannedRow } from './weigh-members.ts';

/** Number of rows of members that are written together. */
const rowsAtOnce = 16;

/** Stores a plan with its rings and members, in place of the earlier one. Approvals of the earlier plan become void. */
export async function storePlan(
  tx: Transaction,
  ctx: Context,
  { id }: PlannedRow,
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
    for (let at = 0; at < chunks.length; at += rowsAtOnce) {
      const rows = chunks.slice(at, at + rowsAtOnce).map((chunk) => ({ rolloutId: id, ring, ...chunk }));
      await tx.insert(rolloutMembers).values(rows);
    }
    first += stats.size;
  }
  await tx
    .update(rollouts)
    .set({ plan, planHash: plan.hash, plannedAt: ctx.now, members: plan.members, approvals: [], ...values })
    .where(eq(rollouts.id, id));
  await recordChange(tx, 'rollout', id);
}
