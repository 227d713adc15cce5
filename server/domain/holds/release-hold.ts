import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { lockHead, requireIncarnation } from '#server/domain/goal-states/index.ts';
import { parse } from '#server/domain/parse.ts';
import type { HeldVm } from './hold.ts';
import { type ReleaseHoldInput, releaseHoldInput } from './input.ts';
import { readHold } from './read-hold.ts';
import { endHoldIn } from './rows.ts';

/**
 * Releases a VM: its agent gets the current goal state. If the VM is not held, nothing changes. Throws 404
 * `vm_unknown`, 412 `goal_state_moved_on`.
 */
export async function releaseHold(ctx: Context, input: ReleaseHoldInput): Promise<HeldVm> {
  allow(ctx.actor, 'operator');
  const { vmId, ifMatch } = parse(releaseHoldInput, input);
  return ctx.db.transaction(async (tx) => {
    const head = await lockHead(tx, vmId);
    requireIncarnation(head, ifMatch);
    const hold = await readHold(tx, vmId);
    const incarnation = hold ? await endHoldIn(tx, ctx, head, hold, 'hold.release') : head.incarnation;
    return { vmId, hold: null, incarnation };
  });
}
