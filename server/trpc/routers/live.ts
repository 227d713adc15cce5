import { tracked } from '@trpc/server';
import { rereadSession, type Session } from '#server/auth/index.ts';
import { allow } from '#server/domain/actor.ts';
import { toTrpcError } from '../error.ts';
import { type CallContext, procedure, router } from '../trpc.ts';

interface ChangesInput {
  /** Id of the last message that the client received. The client sends it when it reconnects. */
  lastEventId?: string | null;
}

/** Streams hints about changed data, within a second of the commit, for as long as the session lasts. */
const changes = procedure
  .input((input: unknown) => (input ?? {}) as ChangesInput)
  .subscription(async ({ ctx, input, signal }) => {
    allow(ctx.actor, 'viewer');
    const session = await ctx.session();
    const gone = signal ?? AbortSignal.abort();
    const close = session === null ? () => {} : ctx.live.streams.open(session.id, session.actor.id);
    // Also stops counting the stream when the call is aborted, because the `finally` of a generator that is never read
    // does not run.
    gone.addEventListener('abort', close, { once: true });
    if (gone.aborted) close();
    return hintsFor(ctx, session, input.lastEventId, gone, close);
  });

async function* hintsFor(
  ctx: CallContext,
  session: Session | null,
  lastId: unknown,
  gone: AbortSignal,
  close: () => void,
) {
  try {
    if (session === null) return;
    const messages = ctx.live.watch({
      lastId: typeof lastId === 'string' ? lastId : undefined,
      signal: ctx.closing === undefined ? gone : AbortSignal.any([gone, ctx.closing]),
      actor: async () => {
        const actor = (await rereadSession(ctx, session.id, new Date()))?.actor;
        return actor === undefined || actor.role === null ? null : actor;
      },
    });
    for await (const { id, ...message } of messages) yield tracked(id, message);
  } catch (error) {
    throw toTrpcError(error, ctx.language, ctx.requestId);
  } finally {
    close();
  }
}

export const liveRouter = router({ changes });
