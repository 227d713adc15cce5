import { sql } from 'drizzle-orm';
import type { z } from 'zod';
import type { Transaction } from '#db/client.ts';
import { allow } from '#server/domain/actor.ts';
import { count } from '#server/domain/answers.ts';
import type { Context } from '#server/domain/context.ts';
import { parse } from '#server/domain/parse.ts';
import { actOn, recordAct } from './act-on.ts';
import { rolloutView } from './answers.ts';
import { type StopRolloutInput, stopRolloutInput } from './input.ts';
import { changeRollout } from './rows.ts';

/** `recalling` is the number of published goal states that no agent has fetched; they are taken back. */
export const pausedRollout = rolloutView.extend({ recalling: count });
export type PausedRollout = z.infer<typeof pausedRollout>;

/**
 * Pauses a rollout: no further VM begins, and goal states that no agent has fetched are taken back. Steps that were
 * delivered run to their end. Throws 404 `rollout_unknown`, 409 `rollout_state`.
 */
export async function pauseRollout(ctx: Context, input: StopRolloutInput): Promise<PausedRollout> {
  allow(ctx.actor, 'operator');
  const { id, reason = null } = parse(stopRolloutInput, input);
  const view = await actOn(ctx, id, 'pause', async (tx, row) => {
    const params = { by: ctx.actor.name, ...(reason !== null && { reason }) };
    const paused = await changeRollout(tx, row, {
      state: 'paused',
      pausedBy: 'person',
      why: [{ code: 'person', params, since: ctx.now.toISOString() }],
      next: null,
      dueAt: ctx.now,
    });
    await recordAct(tx, ctx, row, 'rollout.pause', { reason, recalling: await countUndelivered(tx, id) });
    return paused;
  });
  return { ...view, recalling: await countUndelivered(ctx.db, id) };
}

/** Returns the number of steps whose goal state or execution no agent has fetched. */
export async function countUndelivered(db: Pick<Transaction, 'execute'>, id: string): Promise<number> {
  const { rows } = await db.execute<{ n: number }>(sql`
    select count(*)::int as n from rollout_steps s join goal_state_heads h on h.vm_id = s.vm_id
      left join executions e on e.vm_id = s.vm_id and e.id = s.execution_id
    where s.rollout_id = ${id} and s.state = 'inFlight'
      and (h.delivered_incarnation < s.incarnation or e.state in ('waiting-approval', 'queued'))`);
  return rows[0]?.n ?? 0;
}
