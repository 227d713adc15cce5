import { tracked } from '@trpc/server';
import { rereadSession } from '#server/auth/index.ts';
import { allow } from '#server/domain/actor.ts';
import { toTrpcError } from '../error.ts';
import { procedure, router } from '../trpc.ts';

interface ChangesInput {
  /** Set by the client when it comes back. */
  lastEventId?: string | null;
}

/** Hints of what to read again, within a second of the commit, for as long as the session lasts. */
const changes = procedure
  .input((input: unknown) => (input ?? {}) as ChangesInput)
  .subscription(async function* ({ ctx, input, signal }) {
    allow(ctx.actor, 'viewer');
    const session = await ctx.session();
    if (session === null || signal === undefined) return;
    const messages = ctx.live.watch({
      lastId: typeof input.lastEventId === 'string' ? input.lastEventId : undefined,
      signal: ctx.closing === undefined ? signal : AbortSignal.any([signal, ctx.closing]),
      actor: async () => {
        const actor = (await rereadSession(ctx, session.id, new Date()))?.actor;
        return actor === undefined || actor.role === null ? null : actor;
      },
    });
    try {
      for await (const { id, ...message } of messages) yield tracked(id, message);
    } catch (error) {
      throw toTrpcError(error, ctx.language, ctx.requestId);
    }
  });

export const liveRouter = router({ changes });
