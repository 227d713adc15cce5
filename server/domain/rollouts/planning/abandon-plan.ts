import { eq } from 'drizzle-orm';
import { rollouts } from '#db/schema/index.ts';
import { recordChange } from '#server/domain/changes/index.ts';
import { DomainError } from '#server/domain/error.ts';
import type { Reason } from '#server/domain/rollout-rules/stored.ts';
import { RingFault } from './ring-fault.ts';
import type { PlanOutcome, PlanServices } from './snapshot.ts';

/** Runs a plan or a check. After an expected error, the rollout waits for a person, with the reason. */
export async function orAbandon(
  services: PlanServices,
  id: string,
  now: Date,
  run: () => Promise<PlanOutcome>,
): Promise<PlanOutcome> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    services.log.info({ rollout: id, code: error.code }, 'a rollout cannot be planned');
    await abandonPlan(services, id, now, error);
    return 'done';
  }
}

/** The state before a plan or a check. */
const before = { planning: 'draft', checking: 'planned' } as const;

/**
 * Makes a draft of a rollout that cannot be planned, and a planned rollout of one that cannot be checked; one that
 * has run before stays paused. An unexpected error has no code that people could act on.
 */
export async function abandonPlan(services: PlanServices, id: string, now: Date, error: unknown): Promise<void> {
  await services.db.transaction(async (tx) => {
    const [row] = await tx.select().from(rollouts).where(eq(rollouts.id, id)).for('update');
    if (row?.state !== 'planning' && row?.state !== 'checking') return;
    const why = [reasonOf(error, now)];
    const values =
      row.startedAt === null
        ? { ...{ dueAt: null, startedBy: null, approvals: [] }, state: before[row.state] }
        : { state: 'paused' as const, pausedBy: 'portal' as const, dueAt: now };
    await tx
      .update(rollouts)
      .set({ ...values, why, next: null })
      .where(eq(rollouts.id, id));
    await recordChange(tx, 'rollout', id);
  });
}

function reasonOf(error: unknown, now: Date): Reason {
  const cause = error instanceof DomainError ? error.code : 'unforeseen';
  const params = error instanceof DomainError ? error.params : {};
  const ring = error instanceof RingFault ? { ring: error.ring } : {};
  return { code: 'plan_failed', ...ring, params: { ...params, cause }, since: now.toISOString() };
}
