import { recordAudit } from '#server/domain/audit/index.ts';
import { recordChange } from '#server/domain/changes/index.ts';
import { allowPerson, type PersonContext } from '../person.ts';
import { endSessionsOf } from '../session.ts';

/** Signs the caller out of all other browsers. Returns the number of ended sessions. */
export async function endOtherSessions(ctx: PersonContext): Promise<{ ended: number }> {
  const { id, actor } = await allowPerson(ctx);
  return ctx.db.transaction(async (tx) => {
    const ended = await endSessionsOf(tx, actor.id, id);
    if (ended > 0) {
      await recordAudit(
        tx,
        { ...ctx, actor },
        {
          action: 'member.end-sessions',
          target: { kind: 'member', id: actor.id },
          details: { sessionsEnded: ended },
        },
      );
      await recordChange(tx, 'member', actor.id);
    }
    return { ended };
  });
}
