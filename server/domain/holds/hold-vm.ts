import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { lockHead, requireIncarnation } from '#server/domain/goal-states/index.ts';
import { parse } from '#server/domain/parse.ts';
import type { HeldVm, Hold } from './hold.ts';
import { type HoldVmInput, holdLimits, holdVmInput } from './input.ts';
import { readHold } from './read-hold.ts';
import { setHoldIn } from './rows.ts';

const dayMs = 86_400_000;

/**
 * Puts a VM on hold: its agent gets no goal state newer than the delivered one, running work is completed, and
 * deadlines are paused. If the VM is already on hold, changes the reason and the end. An identical request changes
 * nothing. Throws 404 `vm_unknown`, 412 `goal_state_moved_on`, 422 `hold_until_past` | `hold_until_far`.
 */
export async function holdVm(ctx: Context, input: HoldVmInput): Promise<HeldVm & { hold: Hold }> {
  allow(ctx.actor, 'operator');
  const { vmId, reason, until: end, ifMatch } = parse(holdVmInput, input);
  const until = end ? new Date(end) : null;
  if (until !== null) rejectUnfitEnd(until, ctx.now);
  return ctx.db.transaction(async (tx) => {
    const head = await lockHead(tx, vmId);
    requireIncarnation(head, ifMatch);
    const before = await readHold(tx, vmId);
    const isSame = before?.reason === reason && before.until === (until?.toISOString() ?? null);
    const incarnation = isSame ? head.incarnation : await setHoldIn(tx, ctx, head, { reason, until });
    const hold = await readHold(tx, vmId);
    if (hold === null) throw new Error(`the hold of VM ${vmId} was not stored`);
    return { vmId, hold, incarnation };
  });
}

function rejectUnfitEnd(until: Date, now: Date): void {
  const latest = now.getTime() + holdLimits.days * dayMs;
  const code = until <= now ? 'hold_until_past' : until.getTime() > latest ? 'hold_until_far' : null;
  if (code === null) return;
  const params = { days: holdLimits.days };
  throw new DomainError('unprocessable', 'invalid', { faults: [{ path: '/until', code, params }] });
}
