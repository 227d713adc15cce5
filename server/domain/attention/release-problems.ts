import { eq } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import type { Role } from '#db/schema/auth.ts';
import { attentionMarks } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import { mayBeAssigned } from './list-assignees.ts';
import { readMarks } from './mark.ts';
import { readProblems } from './read-problems.ts';
import { unassigned, writeMark } from './write-mark.ts';

/**
 * Unassigns a member's problems if problems cannot be assigned to members with the new role, or if the member is about
 * to be removed (`role` is null). The caller must have locked the member's row, so that no problem is assigned to the
 * member at the same time.
 */
export async function releaseProblems(
  tx: Transaction,
  ctx: Context,
  memberId: string,
  role: Role | null,
): Promise<void> {
  if (role !== null && mayBeAssigned(role)) return;
  const isAssigned = eq(attentionMarks.assigneeId, memberId);
  const rows = await tx
    .select({ key: attentionMarks.key })
    .from(attentionMarks)
    .where(isAssigned)
    .orderBy(attentionMarks.key)
    .for('update');
  if (rows.length === 0) return;
  const keys = rows.map(({ key }) => key);
  const names = new Map((await readMarks(tx, keys)).map(({ key, assignee }) => [key, assignee?.name ?? null]));
  for (const problem of (await readProblems(tx, keys)).items) {
    const details = { from: names.get(problem.key) ?? null };
    await writeMark(tx, ctx, problem, unassigned, { action: 'attention.unassign', details });
  }
  // Also unassigns the problems that no VM has now, because they may come back.
  await tx.update(attentionMarks).set(unassigned).where(isAssigned);
}
