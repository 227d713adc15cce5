import { eq } from 'drizzle-orm';
import { users } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { parse } from '#server/domain/parse.ts';
import { type AssignProblemInput, assignProblemInput } from './input.ts';
import { mayBeAssigned } from './list-assignees.ts';
import type { Mark } from './mark.ts';
import { findProblem, writeMark } from './write-mark.ts';

/**
 * Assigns a problem to a member, replacing an earlier assignee, if any. Throws 404 `problem_unknown`, 422
 * `member_unknown` | `assignee_role`.
 */
export async function assignProblem(ctx: Context, input: AssignProblemInput): Promise<Mark> {
  allow(ctx.actor, 'operator');
  const { key, memberId } = parse(assignProblemInput, input);
  return ctx.db.transaction(async (tx) => {
    const problem = await findProblem(tx, key);
    const [member] = await tx
      .select({ name: users.name, role: users.role })
      .from(users)
      .where(eq(users.id, memberId))
      .for('key share');
    if (member === undefined || !mayBeAssigned(member.role)) {
      const code = member === undefined ? 'member_unknown' : 'assignee_role';
      throw new DomainError('unprocessable', 'invalid', { faults: [{ path: '/memberId', code }] });
    }
    const columns = { assigneeId: memberId, assignedBy: ctx.actor.name, assignedAt: ctx.now };
    return writeMark(tx, ctx, problem, columns, { action: 'attention.assign', details: { to: member.name } });
  });
}
