import { and, eq } from 'drizzle-orm';
import { sessions, users } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import { recordAudit } from '#server/domain/audit/index.ts';
import { recordChange } from '#server/domain/changes/index.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { parse } from '#server/domain/parse.ts';
import { type EndMemberSessionsInput, endMemberSessionsInput } from './input.ts';

/**
 * Signs a member out of one browser or of all browsers. Returns the number of ended sessions. Throws `member_unknown`
 * or `session_unknown`.
 */
export async function endMemberSessions(ctx: Context, input: EndMemberSessionsInput): Promise<{ ended: number }> {
  allow(ctx.actor, 'admin');
  const { memberId, id } = parse(endMemberSessionsInput, input);
  return ctx.db.transaction(async (tx) => {
    const [member] = await tx.select({ name: users.name }).from(users).where(eq(users.id, memberId));
    if (!member) throw new DomainError('not_found', 'member_unknown');
    const ended = await tx
      .delete(sessions)
      .where(and(eq(sessions.userId, memberId), id === undefined ? undefined : eq(sessions.id, id)))
      .returning({ id: sessions.id });
    if (id !== undefined && ended.length === 0) throw new DomainError('not_found', 'session_unknown');
    if (ended.length > 0) {
      await recordAudit(tx, ctx, {
        action: 'member.end-sessions',
        target: { kind: 'member', id: memberId },
        details: { name: member.name, sessionsEnded: ended.length },
      });
      await recordChange(tx, 'member', memberId);
    }
    return { ended: ended.length };
  });
}
