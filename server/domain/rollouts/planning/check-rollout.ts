import { eq, sql } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { rollouts } from '#db/schema/index.ts';
import { recordChange } from '#server/domain/changes/index.ts';
import type { Context } from '#server/domain/context.ts';
import { maxMoved } from '#server/domain/rollout-rules/rings.ts';
import type { Reason } from '#server/domain/rollout-rules/stored.ts';
import type { StoredRollout } from '../rows.ts';
import { orAbandon } from './abandon-plan.ts';
import { checkAgain } from './check-again.ts';
import { type MadePlan, makePlan } from './make-plan.ts';
import { kindsOf } from './member-chunks.ts';
import { movedMembers } from './moved-members.ts';
import { isHashOf } from './plan-hash.ts';
import { digestOf, readMembers } from './rehash-plan.ts';
import { inSnapshot, type PlanOutcome, type PlanServices } from './snapshot.ts';
import { storePlan } from './store-plan.ts';

/**
 * Creates the plan of a rollout in the state `checking` again. If it still does what the started plan said, the rollout
 * runs or is scheduled; otherwise it has the new plan and the reason `plan_moved_on`, and needs to be started again. A
 * rollout that has run before is checked with `checkAgain`.
 */
export const checkRollout = (services: PlanServices, id: string, now = new Date()): Promise<PlanOutcome> =>
  orAbandon(services, id, now, () =>
    inSnapshot(services, id, now, 'checking', (tx, ctx, row, keep) =>
      row.startedAt === null ? check(tx, ctx, row, keep) : checkAgain(tx, ctx, row, keep),
    ),
  );

async function check(tx: Transaction, ctx: Context, row: StoredRollout, keep: () => Promise<void>): Promise<void> {
  const made = await makePlan(tx, ctx, row);
  const params = await movedOn(tx, ctx, row, made);
  await keep();
  if (params === null) return begin(tx, ctx, row);
  const why: Reason[] = [{ code: 'plan_moved_on', params, since: ctx.now.toISOString() }];
  const again = { startedBy: null, acceptedOverlap: [], next: null, dueAt: null };
  await storePlan(tx, ctx, row, made, { state: 'planned', why, ...again });
}

/** Returns what differs from the started plan, for the reason's sentence; null if the rollout may begin. */
async function movedOn(
  tx: Transaction,
  ctx: Context,
  row: StoredRollout,
  made: MadePlan,
): Promise<Reason['params'] | null> {
  const chunks = await readMembers(tx, row.id);
  const members = digestOf(row.definition, chunks);
  if (row.planHash === null || !isHashOf(ctx, row.planHash, { ...made.hashed, members }))
    return { cause: 'definition' };
  const unaccepted = made.plan.overlaps.filter(({ id }) => !row.acceptedOverlap.includes(id));
  if (unaccepted.length > 0 && row.kind !== 'automatic')
    return { cause: 'overlap', rollouts: unaccepted.map(({ name }) => name).join(', ') };
  const { moved, changes } = movedMembers(kindsOf(chunks), kindsOf(made.rings.flatMap((ring) => ring.chunks)));
  const allowed = maxMoved(row.members, row.definition.maxMovedShare);
  return moved > allowed ? { cause: 'members', moved, allowed, ...changes } : null;
}

/** Begins a rollout, or schedules it if it starts later. It is then checked again when its time comes. */
async function begin(tx: Transaction, ctx: Context, { id, startAt, startedAt }: StoredRollout): Promise<void> {
  const { now, epoch } = ctx;
  const isLater = startAt !== null && startAt > now;
  const values = isLater
    ? { state: 'scheduled' as const, dueAt: startAt, next: { code: 'start_at', at: startAt.toISOString() } }
    : { state: 'running' as const, startedAt: startedAt ?? now, progressAt: now, dueAt: now, next: null };
  await tx
    .update(rollouts)
    .set({ ...values, why: [], epoch, healthSeen: sql`(select coalesce(max(id), 0) from health_transitions)` })
    .where(eq(rollouts.id, id));
  await recordChange(tx, 'rollout', id);
}
