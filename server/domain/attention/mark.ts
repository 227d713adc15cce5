import { eq, inArray } from 'drizzle-orm';
import { z } from 'zod';
import type { Database, Transaction } from '#db/client.ts';
import { attentionMarks, users } from '#db/schema/index.ts';
import { count, time } from '#server/domain/answers.ts';
import type { FleetProblem } from './problem.ts';

/** The member to whom a problem is assigned. `by` is the name of the actor who assigned it. */
export const assignee = z.object({ id: z.string(), name: z.string(), by: z.string(), at: time });
export type Assignee = z.infer<typeof assignee>;

/** A snooze. It ends at `until` or, if `until` is null, when the problem changes. */
export const snooze = z.object({
  until: time.nullable().describe('Null if the snooze ends when the problem changes.'),
  by: z.string(),
  at: time,
  /** Number of VMs that had the problem when it was snoozed. */
  vms: count,
});
export type Snooze = z.infer<typeof snooze>;

/** What people decided about a problem. */
export const mark = z.object({ assignee: assignee.nullable(), snooze: snooze.nullable() });
export type Mark = z.infer<typeof mark>;

export const noMark: Mark = { assignee: null, snooze: null };

/** A mark as stored, with the versions that the problem had when it was snoozed. */
export type StoredMark = Mark & { key: string; versions: readonly string[]; goneAt: Date | null };

/** Reads the marks of these problems; by default, all marks. */
export async function readMarks(db: Database | Transaction, keys?: readonly string[]): Promise<StoredMark[]> {
  if (keys?.length === 0) return [];
  const rows = await db
    .select({ mark: attentionMarks, name: users.name })
    .from(attentionMarks)
    .leftJoin(users, eq(users.id, attentionMarks.assigneeId))
    .where(keys === undefined ? undefined : inArray(attentionMarks.key, [...keys]));
  return rows.map(({ mark: row, name }) => ({
    key: row.key,
    assignee:
      row.assigneeId === null || name === null
        ? null
        : { id: row.assigneeId, name, by: row.assignedBy ?? '', at: row.assignedAt?.toISOString() ?? '' },
    snooze:
      row.snoozedAt === null
        ? null
        : {
            until: row.snoozedUntil?.toISOString() ?? null,
            by: row.snoozedBy ?? '',
            at: row.snoozedAt.toISOString(),
            vms: row.snoozedVms ?? 0,
          },
    versions: row.snoozedVersions ?? [],
    goneAt: row.goneAt,
  }));
}

/**
 * Whether a snooze still applies. A snooze without an end time applies until the problem has more VMs or other versions
 * than at the time of the snooze.
 */
export function isSnoozed(
  { snooze: given, versions }: Pick<StoredMark, 'snooze' | 'versions'>,
  problem: Pick<FleetProblem, 'vms' | 'versions'>,
  now: Date,
): boolean {
  if (given === null) return false;
  if (given.until !== null) return new Date(given.until) > now;
  return problem.vms <= given.vms && problem.versions.every((version) => versions.includes(version));
}

/** Returns the mark of a problem as readers see it: without a snooze that has ended. */
export function currentMark(stored: StoredMark | undefined, problem: FleetProblem, now: Date): Mark {
  if (stored === undefined) return noMark;
  return { assignee: stored.assignee, snooze: isSnoozed(stored, problem, now) ? stored.snooze : null };
}
