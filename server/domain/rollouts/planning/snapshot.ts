import { eq, sql } from 'drizzle-orm';
import type { Logger } from 'pino';
import { v4 as randomId } from 'uuid';
import type { Transaction } from '#db/client.ts';
import { rollouts } from '#db/schema/index.ts';
import { type Context, type Services, systemOrigin } from '#server/domain/context.ts';
import type { StoredRollout } from '../rows.ts';

/** What a worker needs to plan. */
export interface PlanServices extends Services {
  log: Logger;
  /** Aborted when the worker shuts down; another worker then plans the rollout again. */
  signal?: AbortSignal;
}

/**
 * `busy`: another worker plans the rollout. `discarded`: someone changed the rollout meanwhile. `none`: the rollout
 * waits for nothing.
 */
export type PlanOutcome = 'done' | 'busy' | 'discarded' | 'none';

/**
 * Runs work on a rollout in one snapshot of the database. A lock that ends with the transaction keeps other workers
 * from the same work. People can still change the rollout: the work calls `keep` before it writes, which locks the row
 * and discards everything if the row was changed since the snapshot.
 */
export async function inSnapshot(
  services: PlanServices,
  id: string,
  now: Date,
  state: 'planning' | 'checking',
  run: (tx: Transaction, ctx: Context, row: StoredRollout, keep: () => Promise<void>) => Promise<void>,
): Promise<PlanOutcome> {
  try {
    return await services.db.transaction(
      async (tx) => {
        const { rows } = await tx.execute<{ taken: boolean }>(
          sql`select pg_try_advisory_xact_lock(hashtextextended('plan rollout ' || ${id}, 0)) as taken`,
        );
        if (rows[0]?.taken !== true) return 'busy';
        const [row] = await tx.select().from(rollouts).where(eq(rollouts.id, id));
        if (row?.state !== state) return 'none';
        await tx.execute(sql`set local max_parallel_workers_per_gather = 0`);
        await run(tx, contextOf(services, row, now), row, async () => {
          services.signal?.throwIfAborted();
          await tx.select({ id: rollouts.id }).from(rollouts).where(eq(rollouts.id, id)).for('update');
        });
        return 'done';
      },
      { isolationLevel: 'repeatable read' },
    );
  } catch (error) {
    if (isChanged(error)) return 'discarded';
    throw error;
  }
}

/** A context in which the rollout itself acts. */
function contextOf(services: PlanServices, { id, name }: StoredRollout, now: Date): Context {
  const actor = { kind: 'system' as const, id: `rollout/${id}`, name, role: 'admin' as const, namespaces: [] };
  return { ...services, actor, origin: systemOrigin, now, requestId: randomId() };
}

/** Whether a statement failed because a row was changed or deleted since the transaction's snapshot. */
function isChanged(error: unknown): boolean {
  for (let at: unknown = error; at instanceof Error; at = at.cause) {
    if ((at as Error & { code?: unknown }).code === '40001') return true;
  }
  return false;
}
