import { and, eq, gt, sql } from 'drizzle-orm';
import type { Database } from '#db/client.ts';
import { auditEntries, changes } from '#db/schema/index.ts';
import { DomainError } from '#server/domain/error.ts';

/**
 * Returns `done` or, for a rejection, a line with its kind, its code, and each fault as `path code`. Rethrows other
 * errors.
 */
export async function outcomeOf(act: Promise<unknown>): Promise<string> {
  try {
    await act;
    return 'done';
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    const faults = error.faults.map(({ path, code }) => `${path} ${code}`);
    return [`${error.kind} ${error.code}`, ...faults].join('; ');
  }
}

/** A position in the activity log and in the changes. Tests read what was added after it. */
export interface Mark {
  act: number;
  change: number;
}

/** Returns the current position. */
export async function markOf(db: Database): Promise<Mark> {
  const [act] = await db.select({ id: sql<string>`coalesce(max(${auditEntries.id}), 0)` }).from(auditEntries);
  const [change] = await db.select({ id: sql<string>`coalesce(max(${changes.id}), 0)` }).from(changes);
  return { act: Number(act?.id), change: Number(change?.id) };
}

/** Returns the activity log entries about a VM since a mark, oldest first. */
export async function actsSince(db: Database, mark: Mark, vmId: string): Promise<(typeof auditEntries.$inferSelect)[]> {
  return db
    .select()
    .from(auditEntries)
    .where(and(eq(auditEntries.vmId, vmId), gt(auditEntries.id, mark.act)))
    .orderBy(auditEntries.id);
}

/** Returns the changes since a mark as `topic key`, without those that announce activity log entries. */
export async function changesSince(db: Database, mark: Mark): Promise<string[]> {
  const rows = await db.select().from(changes).where(gt(changes.id, mark.change)).orderBy(changes.id);
  return rows.filter(({ topic }) => topic !== 'act').map(({ topic, key }) => `${topic} ${key}`);
}
