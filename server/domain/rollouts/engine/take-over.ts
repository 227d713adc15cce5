import { and, eq, inArray } from 'drizzle-orm';
import { rolloutRings, rolloutSteps, rollouts } from '#db/schema/index.ts';
import { handOver } from '#server/domain/reservations/index.ts';
import { moveCount } from '#server/domain/rollout-rules/counts.ts';
import { openSteps } from '#server/domain/rollout-rules/words.ts';
import { ringsOf } from '../rows.ts';
import { holderOf } from './holder.ts';
import type { Pass } from './pass.ts';

/**
 * Ends the open steps that these VMs have in the rollout that this one reverts: a revert does not wait for them (RO-13).
 * The pass has locked that rollout.
 */
export async function takeOver({ tx, ctx, row }: Pass, vmIds: readonly string[]): Promise<void> {
  const { of } = row;
  if (row.kind !== 'revert' || of === null || vmIds.length === 0) return;
  const ofVms = and(
    inArray(rolloutSteps.vmId, [...vmIds]),
    eq(rolloutSteps.rolloutId, of),
    inArray(rolloutSteps.state, [...openSteps]),
  );
  const open = await tx.select({ ring: rolloutSteps.ring, state: rolloutSteps.state }).from(rolloutSteps).where(ofVms);
  if (open.length === 0) return;
  const overtakenBy = { by: row.name, action: 'rollout.revert', at: ctx.now.toISOString() };
  await tx
    .update(rolloutSteps)
    .set({
      ...{ state: 'overtaken', cause: null, overtakenBy, dueAt: null },
      ...{ decidedAt: ctx.now, updatedAt: ctx.now },
    })
    .where(ofVms);
  await handOver(tx, holderOf(of), holderOf(row.id), vmIds);
  for (const ring of await ringsOf(tx, of)) {
    const own = open.filter((step) => step.ring === ring.ring);
    if (own.length === 0) continue;
    const counts = own.reduce((sum, { state }) => moveCount(sum, state, 'overtaken'), ring.counts);
    await tx
      .update(rolloutRings)
      .set({ counts })
      .where(and(eq(rolloutRings.rolloutId, of), eq(rolloutRings.ring, ring.ring)));
  }
  await tx.update(rollouts).set({ dueAt: ctx.now }).where(eq(rollouts.id, of));
}
