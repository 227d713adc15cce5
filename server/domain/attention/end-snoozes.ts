import { and, inArray, isNull, lt, or } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { attentionMarks } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import { isSnoozed, readMarks, type StoredMark } from './mark.ts';
import { readProblems } from './read-problems.ts';
import { endSnooze } from './write-mark.ts';

/** How long the mark of a problem is kept once no VM has the problem, in milliseconds. The problem may come back. */
const keptMs = 24 * 60 * 60_000;

/**
 * Ends the snoozes that no longer apply (`isSnoozed`), and deletes marks that are empty or whose problem has been gone
 * for a day. Returns the number of ended snoozes.
 */
export async function endSnoozes(ctx: Context): Promise<number> {
  const marks = await readMarks(ctx.db);
  if (marks.length === 0) return 0;
  const { items } = await readProblems(
    ctx.db,
    marks.map(({ key }) => key),
  );
  const problems = new Map(items.map((problem) => [problem.key, problem]));
  let ended = 0;
  for (const mark of marks) {
    const problem = problems.get(mark.key);
    if (problem === undefined || mark.snooze === null || isSnoozed(mark, problem, ctx.now)) continue;
    if (await ctx.db.transaction((tx) => endSnooze(tx, ctx, mark, problem))) ended += 1;
  }
  await ctx.db.transaction((tx) => forgetGone(tx, marks, problems, ctx.now));
  return ended;
}

/**
 * Stores which problems are gone and which have come back, and deletes marks that are empty or whose problem has been
 * gone for a day.
 */
async function forgetGone(
  tx: Transaction,
  marks: readonly StoredMark[],
  present: ReadonlyMap<string, unknown>,
  now: Date,
): Promise<void> {
  const gone = marks.filter(({ key, goneAt }) => goneAt === null && !present.has(key));
  const back = marks.filter(({ key, goneAt }) => goneAt !== null && present.has(key));
  for (const [changed, goneAt] of [[gone, now] as const, [back, null] as const]) {
    const keys = changed.map(({ key }) => key);
    if (keys.length > 0) await tx.update(attentionMarks).set({ goneAt }).where(inArray(attentionMarks.key, keys));
  }
  const isOld = lt(attentionMarks.goneAt, new Date(now.getTime() - keptMs));
  const isEmpty = and(isNull(attentionMarks.assigneeId), isNull(attentionMarks.snoozedAt));
  await tx.delete(attentionMarks).where(or(isOld, isEmpty));
}
