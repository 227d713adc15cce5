import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { parse } from '#server/domain/parse.ts';
import { type ProblemInput, problemInput } from './input.ts';
import { type Mark, noMark, readMarks } from './mark.ts';
import { findProblem, unassigned, writeMark } from './write-mark.ts';

/** Removes the assignee of a problem, if there is an assignee. Throws 404 `problem_unknown`. */
export async function unassignProblem(ctx: Context, input: ProblemInput): Promise<Mark> {
  allow(ctx.actor, 'operator');
  const { key } = parse(problemInput, input);
  return ctx.db.transaction(async (tx) => {
    const problem = await findProblem(tx, key);
    const [stored] = await readMarks(tx, [key]);
    if (stored?.assignee == null) return { ...noMark, snooze: stored?.snooze ?? null };
    const act = { action: 'attention.unassign', details: { from: stored.assignee.name } } as const;
    return writeMark(tx, ctx, problem, unassigned, act);
  });
}
