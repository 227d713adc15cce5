import { and, eq } from 'drizzle-orm';
import { rolloutRings } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { parse } from '#server/domain/parse.ts';
import { actOn, recordAct } from './act-on.ts';
import type { RolloutView } from './answers.ts';
import { type AdvanceRolloutInput, advanceRolloutInput } from './input.ts';
import { changeRollout, ringsOf } from './rows.ts';

/**
 * Opens the next ring of a running rollout although the ring before it has not passed. A halt or a missing approval is
 * not skipped. Throws 404 `rollout_unknown`, 409 `rollout_state` | `ring_not_next` | `approval_missing`, 422 if there is
 * no such ring.
 */
export async function advanceRollout(ctx: Context, input: AdvanceRolloutInput): Promise<RolloutView> {
  allow(ctx.actor, 'operator');
  const { id, ring, reason } = parse(advanceRolloutInput, input);
  return actOn(ctx, id, 'advance', async (tx, row) => {
    const rings = await ringsOf(tx, id);
    const chosen = rings[ring];
    if (chosen === undefined) throw unknownRing(rings.length);
    if (chosen.state !== 'waiting' || chosen.advanced) return row;
    const next = rings.find(({ state, advanced }) => state === 'waiting' && !advanced);
    if (next?.ring !== ring)
      throw new DomainError('conflict', 'ring_not_next', { params: { ring: (next?.ring ?? 0) + 1 } });
    const needsApproval = row.definition.rings[ring]?.approval === true;
    if (needsApproval && !chosen.approvals.some(({ approved }) => approved)) {
      throw new DomainError('conflict', 'approval_missing');
    }
    await tx
      .update(rolloutRings)
      .set({ advanced: true })
      .where(and(eq(rolloutRings.rolloutId, id), eq(rolloutRings.ring, ring)));
    await recordAct(tx, ctx, row, 'rollout.advance', { reason, ring: chosen.plan?.name ?? String(ring + 1) });
    return changeRollout(tx, row, { dueAt: ctx.now });
  });
}

/** The fault of a ring that a rollout does not have. */
export const unknownRing = (rings: number): DomainError =>
  new DomainError('unprocessable', 'invalid', {
    faults: [{ path: '/ring', code: 'field_too_big', params: { maximum: Math.max(0, rings - 1) } }],
  });
