import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { parse } from '#server/domain/parse.ts';
import { type ProblemInput, problemInput } from './input.ts';
import { type Mark, noMark, readMarks } from './mark.ts';
import { awake, findProblem, writeMark } from './write-mark.ts';

/** Ends the snooze of a problem, if it is snoozed. Throws 404 `problem_unknown`. */
export async function unsnoozeProblem(ctx: Context, input: ProblemInput): Promise<Mark> {
  allow(ctx.actor, 'operator');
  const { key } = parse(problemInput, input);
  return ctx.db.transaction(async (tx) => {
    const problem = await findProblem(tx, key);
    const [stored] = await readMarks(tx, [key]);
    if (stored?.snooze == null) return { ...noMark, assignee: stored?.assignee ?? null };
    return writeMark(tx, ctx, problem, awake, { action: 'attention.unsnooze' });
  });
}
