import { sql } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { systemActor } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { recordAct } from '../act-on.ts';
import { approvalsNeeded } from '../approvals.ts';
import type { StoredRollout } from '../rows.ts';
import { readRules } from '../rules.ts';
import { orAbandon } from './abandon-plan.ts';
import { emptyPlanReasons } from './empty-plan.ts';
import { type MadePlan, makePlan } from './make-plan.ts';
import { inSnapshot, type PlanOutcome, type PlanServices } from './snapshot.ts';
import { storePlan } from './store-plan.ts';

/**
 * Plans a rollout in the state `planning`. A rollout that cannot be planned becomes a draft again, with the reason. If
 * someone changes the rollout meanwhile, the result is discarded. Returns `busy` if another worker is planning it.
 */
export const planRollout = (services: PlanServices, id: string, now = new Date()): Promise<PlanOutcome> =>
  orAbandon(services, id, now, () => inSnapshot(services, id, now, 'planning', plan));

async function plan(tx: Transaction, ctx: Context, row: StoredRollout, keep: () => Promise<void>): Promise<void> {
  const made = await makePlan(tx, ctx, row);
  await keep();
  // The request for a plan can include the start.
  const starts = row.startedBy !== null && (await mayStart(tx, row, made));
  await storePlan(tx, ctx, row, made, {
    ...{ state: starts ? 'checking' : 'planned', next: null },
    why: starts ? [] : emptyPlanReasons(row, made.plan, ctx.now),
    ...(starts ? { dueAt: ctx.now } : { dueAt: null, startedBy: null }),
  });
  if (starts && row.kind === 'automatic') {
    const { hash, members } = made.plan;
    const act = { plan: hash, members, acceptedOverlap: 0 };
    await recordAct(tx, { ...ctx, actor: systemActor }, row, 'rollout.start', act);
  }
}

/** Whether the plan needs no approval first. */
async function mayStart(tx: Transaction, { kind }: StoredRollout, { plan }: MadePlan): Promise<boolean> {
  const { rules } = await readRules(tx);
  return approvalsNeeded(rules, { kind, plan, members: plan.members, planHash: plan.hash, approvals: [] }) === 0;
}

/** Returns the rollouts that wait for a plan or a check, the longest waiting first. */
export async function findUnplanned({
  db,
}: Pick<PlanServices, 'db'>): Promise<{ id: string; state: 'planning' | 'checking' }[]> {
  const { rows } = await db.execute<{ id: string; state: 'planning' | 'checking' }>(sql`
    select id, state from rollouts where state in ('planning', 'checking') order by due_at nulls first, id`);
  return rows;
}
