import { eq } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { attentionMarks } from '#db/schema/index.ts';
import { recordAudit } from '#server/domain/audit/index.ts';
import { recordChange } from '#server/domain/changes/index.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { currentMark, type Mark, readMarks, type StoredMark } from './mark.ts';
import { type FleetProblem, nameOfProblem } from './problem.ts';
import { readProblems } from './read-problems.ts';

type Columns = Partial<Omit<typeof attentionMarks.$inferInsert, 'key'>>;

/** An action on a problem, for the activity log. */
export interface MarkAct {
  action: 'attention.assign' | 'attention.unassign' | 'attention.snooze' | 'attention.unsnooze';
  details?: Record<string, string | null>;
}

/** Values of the snooze columns while a problem is not snoozed. */
export const awake = { snoozedAt: null, snoozedBy: null, snoozedUntil: null, snoozedVms: null, snoozedVersions: null };

/** Values of the assignment columns while a problem is not assigned. */
export const unassigned = { assigneeId: null, assignedBy: null, assignedAt: null };

/** Finds the problem. Throws 404 `problem_unknown` if no VM has it. */
export async function findProblem(tx: Transaction, key: string): Promise<FleetProblem> {
  const { items } = await readProblems(tx, [key]);
  const [problem] = items;
  if (problem === undefined) throw new DomainError('not_found', 'problem_unknown');
  return problem;
}

/** Stores columns of a problem's mark and records the act. The last write wins. Returns the mark. */
export async function writeMark(
  tx: Transaction,
  ctx: Context,
  problem: FleetProblem,
  columns: Columns,
  { action, details }: MarkAct,
): Promise<Mark> {
  const { key } = problem;
  const before = await readMark(tx, key);
  await tx
    .insert(attentionMarks)
    .values({ key, ...columns })
    .onConflictDoUpdate({ target: attentionMarks.key, set: columns });
  const after = await readMark(tx, key);
  await recordAudit(tx, ctx, {
    action,
    target: { kind: 'problem', id: key },
    before: shown(before),
    after: shown(after),
    details: { name: nameOfProblem(problem), ...details },
  });
  await recordChange(tx, 'attention', key);
  return currentMark(after, problem, ctx.now);
}

/** Removes a snooze that has ended, unless a person has snoozed the problem again since. */
export async function endSnooze(
  tx: Transaction,
  ctx: Context,
  stored: StoredMark,
  problem: FleetProblem,
): Promise<boolean> {
  const current = await readMark(tx, stored.key);
  if (current?.snooze?.at !== stored.snooze?.at) return false;
  await tx.update(attentionMarks).set(awake).where(eq(attentionMarks.key, stored.key));
  await recordAudit(tx, ctx, {
    action: 'attention.wake',
    target: { kind: 'problem', id: stored.key },
    before: shown(stored),
    details: { name: nameOfProblem(problem) },
  });
  await recordChange(tx, 'attention', stored.key);
  return true;
}

/** Reads a mark and locks it, so that concurrent changes to it run one at a time. */
async function readMark(tx: Transaction, key: string): Promise<StoredMark | undefined> {
  await tx.select({ key: attentionMarks.key }).from(attentionMarks).where(eq(attentionMarks.key, key)).for('update');
  const [stored] = await readMarks(tx, [key]);
  return stored;
}

const shown = (stored: StoredMark | undefined): object | null =>
  stored === undefined
    ? null
    : { assignee: stored.assignee?.name ?? null, snooze: stored.snooze?.until ?? (stored.snooze && 'change') };
