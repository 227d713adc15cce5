import { and, eq, isNotNull, notInArray, or } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { rolloutRings, rolloutSteps, rollouts } from '#db/schema/index.ts';
import { recordChange } from '#server/domain/changes/index.ts';
import type { Context } from '#server/domain/context.ts';
import { newPreviewMemory, previewMany } from '#server/domain/goal-states/index.ts';
import { kindPosition } from '#server/domain/rollout-rules/kinds.ts';
import { maxMoved } from '#server/domain/rollout-rules/rings.ts';
import type { Reason } from '#server/domain/rollout-rules/stored.ts';
import { recordAct } from '../act-on.ts';
import { changesOf } from '../engine/change-of.ts';
import type { StoredRollout } from '../rows.ts';
import { kindsOf, type MemberKinds } from './member-chunks.ts';
import { movedMembers } from './moved-members.ts';
import { readMembers } from './rehash-plan.ts';

/** Number of members that are evaluated together. */
const atOnce = 5_000;

/**
 * Checks a rollout that is resumed after the database was restored: the members that no step has reached are evaluated
 * again. If they are what the plan said, the rollout continues. Otherwise it is paused again with the reason
 * `plan_moved_on`, and the next resume continues: each member that moved is then skipped at its step.
 */
export async function checkAgain(
  tx: Transaction,
  ctx: Context,
  row: StoredRollout,
  keep: () => Promise<void>,
): Promise<void> {
  const before = await unreachedMembers(tx, row.id);
  const { moved, changes } = movedMembers(before, await kindsNow(tx, ctx, row, [...before.keys()]));
  const allowed = maxMoved(row.members, row.definition.maxMovedShare);
  await keep();
  const values = { epoch: ctx.epoch, progressAt: ctx.now, dueAt: ctx.now };
  if (moved > allowed) {
    const why: Reason[] = [
      {
        code: 'plan_moved_on',
        params: { cause: 'restored', moved, allowed, ...changes },
        since: ctx.now.toISOString(),
      },
    ];
    await tx
      .update(rollouts)
      .set({ ...values, state: 'paused', pausedBy: 'portal', why })
      .where(eq(rollouts.id, row.id));
    await recordAct(tx, ctx, row, 'rollout.halt', { rings: [], why });
  } else {
    const state = (await hasPassed(tx, row.id)) ? 'keeping' : 'running';
    await tx
      .update(rollouts)
      .set({ ...values, state })
      .where(eq(rollouts.id, row.id));
  }
  await recordChange(tx, 'rollout', row.id);
}

/** Returns the planned kind of each member whose step has not begun. */
async function unreachedMembers(tx: Transaction, id: string): Promise<MemberKinds> {
  const reached = await tx
    .select({ vmId: rolloutSteps.vmId })
    .from(rolloutSteps)
    .where(
      and(
        eq(rolloutSteps.rolloutId, id),
        or(notInArray(rolloutSteps.state, ['parked', 'recalled']), isNotNull(rolloutSteps.incarnation)),
      ),
    );
  const kinds = new Map(kindsOf(await readMembers(tx, id)));
  for (const { vmId } of reached) kinds.delete(vmId);
  return kinds;
}

/** Returns what the change would do to each of these VMs now. VMs on which it does nothing are missing. */
async function kindsNow(
  tx: Transaction,
  ctx: Context,
  row: StoredRollout,
  vmIds: readonly string[],
): Promise<MemberKinds> {
  const kinds = new Map<string, number>();
  const memory = newPreviewMemory();
  for (let from = 0; from < vmIds.length; from += atOnce) {
    const some = vmIds.slice(from, from + atOnce);
    const changeOf = await changesOf({ tx, ctx, row }, some);
    const requests = some.flatMap((vmId) => {
      const change = changeOf.get(vmId);
      return change ? [{ vmId, planned: null, change }] : [];
    });
    for (const [vmId, preview] of await previewMany(tx, ctx, requests, memory)) {
      if (preview.outcome === 'change' && !preview.needsRelease) kinds.set(vmId, kindPosition(preview.kind));
    }
  }
  return kinds;
}

async function hasPassed(tx: Transaction, id: string): Promise<boolean> {
  const rings = await tx.select({ state: rolloutRings.state }).from(rolloutRings).where(eq(rolloutRings.rolloutId, id));
  return rings.every(({ state }) => state === 'passed');
}
