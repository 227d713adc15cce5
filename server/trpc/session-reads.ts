import pLimit, { type LimitFunction } from 'p-limit';
import { slot } from '#server/platform/process-memory.ts';

/** Maximum number of concurrent reads per session, so that some database connections remain for other sessions. */
export const concurrentReads = 6;

/** Limits the concurrent reads of each session, so that a batch of fifty calls does not delay other users. */
export class SessionReads {
  readonly #sessions = new Map<string, { limit: LimitFunction; users: number }>();

  async run<T>(sessionId: string, read: () => Promise<T>): Promise<T> {
    const session = this.#sessions.get(sessionId) ?? { limit: pLimit(concurrentReads), users: 0 };
    this.#sessions.set(sessionId, session);
    session.users += 1;
    try {
      return await session.limit(read);
    } finally {
      session.users -= 1;
      if (session.users === 0) this.#sessions.delete(sessionId);
    }
  }
}

export const sessionReads = slot(() => new SessionReads());
