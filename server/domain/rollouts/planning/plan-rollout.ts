import { sql } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import type { Context } from '#server/domain/context.ts';
import type { StoredRollout } from '../rows.ts';
import { orAbandon } from './abandon-plan.ts';
import { makePlan } from './make-plan.ts';
import { inSnapshot, type PlanOutcome, type PlanServices } from './snapshot.ts';
import { storePlan } from './store-plan.ts';

/**
 * Plans a rollout in the state `planning`. A rollout that cannot be planned becomes a draft again, with the reason. If
 * somebody changes the rollout meanwhile, the result is discarded. Returns `busy` if another worker is planning it.
 */
export const planRollout = (services: PlanServices, id: string, now = new Date()): Promise<PlanOutcome> =>
  orAbandon(services, id, now, () => inSnapshot(services, id, now, 'planning', plan));

async function plan(tx: Transaction, ctx: Context, row: StoredRollout, keep: () => Promise<void>): Promise<void> {
  const made = await makePlan(tx, ctx, row);
  await keep();
  // The request for a plan can include the start.
  const starts = row.startedBy !== null;
  await storePlan(tx, ctx, row, made, {
    ...{ state: starts ? 'checking' : 'planned', why: [], next: null },
    dueAt: starts ? ctx.now : null,
  });
}

/** Returns the rollouts that wait for a plan or a check, the longest waiting first. */
export async function findUnplanned({
  db,
}: Pick<PlanServices, 'db'>): Promise<{ id: string; state: 'planning' | 'checking' }[]> {
  const { rows } = await db.execute<{ id: string; state: 'planning' | 'checking' }>(sql`
    select id, state from rollouts where state in ('planning', 'checking') order by due_at nulls first, id`);
  return rows;
}
