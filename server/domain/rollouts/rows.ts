import { asc, eq, inArray } from 'drizzle-orm';
import type { Database, Transaction } from '#db/client.ts';
import { rolloutRings, rollouts } from '#db/schema/index.ts';
import { recordChange } from '#server/domain/changes/index.ts';
import { DomainError } from '#server/domain/error.ts';

export type StoredRollout = typeof rollouts.$inferSelect;
export type StoredRing = typeof rolloutRings.$inferSelect;

/** Locks a rollout until the commit: verbs and workers change it one after the other. Throws 404 `rollout_unknown`. */
export async function lockRollout(tx: Transaction, id: string): Promise<StoredRollout> {
  const [row] = await tx.select().from(rollouts).where(eq(rollouts.id, id)).for('update');
  if (row === undefined) throw new DomainError('not_found', 'rollout_unknown');
  return row;
}

/** Returns a rollout. Throws 404 `rollout_unknown`. */
export async function readRollout(db: Database | Transaction, id: string): Promise<StoredRollout> {
  const [row] = await db.select().from(rollouts).where(eq(rollouts.id, id));
  if (row === undefined) throw new DomainError('not_found', 'rollout_unknown');
  return row;
}

/** Returns the rings of these rollouts, in order. */
export async function readRings(
  db: Database | Transaction,
  ids: readonly string[],
): Promise<ReadonlyMap<string, StoredRing[]>> {
  if (ids.length === 0) return new Map();
  const rows = await db
    .select()
    .from(rolloutRings)
    .where(inArray(rolloutRings.rolloutId, [...ids]))
    .orderBy(asc(rolloutRings.rolloutId), asc(rolloutRings.ring));
  return Map.groupBy(rows, ({ rolloutId }) => rolloutId);
}

/** Returns the rings of one rollout, in order. */
export async function ringsOf(db: Database | Transaction, id: string): Promise<StoredRing[]> {
  return (await readRings(db, [id])).get(id) ?? [];
}

/** Changes a locked rollout, notifies pages, and wakes the workers. Returns the changed row. */
export async function changeRollout(
  tx: Transaction,
  { id }: Pick<StoredRollout, 'id'>,
  values: Partial<typeof rollouts.$inferInsert>,
): Promise<StoredRollout> {
  const [row] = await tx.update(rollouts).set(values).where(eq(rollouts.id, id)).returning();
  if (row === undefined) throw new Error(`rollout ${id} was not locked`);
  await recordChange(tx, 'rollout', id);
  return row;
}
