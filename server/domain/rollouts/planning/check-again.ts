import { and, eq, isNotNull, notInArray, or } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { rolloutRings, rolloutSteps, rollouts } from '#db/schema/index.ts';
import { recordChange } from '#server/domain/changes/index.ts';
import type { Context } from '#server/domain/context.ts';
import { kindPosition } from '#server/domain/rollout-rules/kinds.ts';
import { maxMoved } from '#server/domain/rollout-rules/rings.ts';
import type { Reason } from '#server/domain/rollout-rules/stored.ts';
import { recordAct } from '../act-on.ts';
import type { StoredRollout } from '../rows.ts';
import { readRules } from '../rules.ts';
import { openGiven } from '../secrets.ts';
import { evaluateMembers } from './evaluate-members.ts';
import { kindsOf, type MemberKinds } from './member-chunks.ts';
import { movedMembers } from './moved-members.ts';
import { readMembers } from './rehash-plan.ts';

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
  const { rules } = await readRules(tx);
  const only = { ...row, definition: { ...row.definition, select: { ids: [...vmIds] } } };
  const { members } = await evaluateMembers(tx, ctx, only, openGiven(ctx, row), rules.availabilitySetTag);
  return new Map(members.map(({ vmId, preview }) => [vmId, kindPosition(preview.kind)]));
}

async function hasPassed(tx: Transaction, id: string): Promise<boolean> {
  const rings = await tx.select({ state: rolloutRings.state }).from(rolloutRings).where(eq(rolloutRings.rolloutId, id));
  return rings.every(({ state }) => state === 'passed');
}
