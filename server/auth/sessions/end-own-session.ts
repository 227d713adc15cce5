import { and, eq } from 'drizzle-orm';
import { sessions } from '#db/schema/index.ts';
import { recordAudit } from '#server/domain/audit/index.ts';
import { recordChange } from '#server/domain/changes/index.ts';
import { DomainError } from '#server/domain/error.ts';
import { parse } from '#server/domain/parse.ts';
import { allowPerson, type PersonContext } from '../person.ts';
import { type EndOwnSessionInput, endOwnSessionInput } from './input.ts';

/** Signs the caller out of one browser. Throws `session_unknown`. */
export async function endOwnSession(ctx: PersonContext, input: EndOwnSessionInput): Promise<void> {
  const { actor } = await allowPerson(ctx);
  const { id } = parse(endOwnSessionInput, input);
  await ctx.db.transaction(async (tx) => {
    const ended = await tx
      .delete(sessions)
      .where(and(eq(sessions.id, id), eq(sessions.userId, actor.id)))
      .returning({ id: sessions.id });
    if (ended.length === 0) throw new DomainError('not_found', 'session_unknown');
    await recordAudit(
      tx,
      { ...ctx, actor },
      {
        action: 'member.end-sessions',
        target: { kind: 'member', id: actor.id },
        details: { sessionsEnded: 1 },
      },
    );
    await recordChange(tx, 'member', actor.id);
  });
}
