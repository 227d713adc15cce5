import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { parse } from '#server/domain/parse.ts';
import { openStates, type RolloutState } from '#server/domain/rollout-rules/words.ts';
import { abortIn } from './abort-rollout.ts';
import { recordAct } from './act-on.ts';
import { hasEffect } from './acts.ts';
import { unknownRing } from './advance-rollout.ts';
import type { RolloutView } from './answers.ts';
import { createRevertIn } from './create-revert.ts';
import { type RevertRolloutInput, revertRolloutInput } from './input.ts';
import { lockRollout } from './rows.ts';
import { viewOf } from './show-rollout.ts';

/** States in which a rollout is aborted before it is reverted. */
const toAbort: readonly RolloutState[] = openStates.filter((state) => state !== 'aborting' && state !== 'checking');

/**
 * Creates and plans a rollout that gives the changed VMs their own earlier declarations. An open rollout is aborted
 * first. Returns the revert. Throws 404 `rollout_unknown`, 409 `rollout_state` | `run_not_revertible`, 422 if there is no such ring.
 */
export async function revertRollout(ctx: Context, input: RevertRolloutInput): Promise<RolloutView> {
  allow(ctx.actor, 'operator');
  const { id, ...terms } = parse(revertRolloutInput, input);
  return ctx.db.transaction(async (tx) => {
    const row = await lockRollout(tx, id);
    hasEffect('revert', row.state);
    const { rings, change } = row.definition;
    if (change.kind === 'run') throw new DomainError('conflict', 'run_not_revertible');
    if (terms.ring !== undefined && rings[terms.ring] === undefined) throw unknownRing(rings.length);
    const isOpen = toAbort.includes(row.state);
    if (isOpen) await recordAct(tx, ctx, row, 'rollout.abort', { reason: null, from: row.state });
    const of = isOpen ? await abortIn(tx, ctx, row) : row;
    return viewOf(ctx, tx, await createRevertIn(tx, ctx, of, terms));
  });
}
