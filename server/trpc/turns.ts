import pLimit, { type LimitFunction } from 'p-limit';

/** Of the portal's connections to the database, so many serve one session at once; others are served beside it. */
export const readsAtOnce = 6;

const sessions = new Map<string, { turn: LimitFunction; users: number }>();

/** Reads when it is this session's turn: a batch of fifty calls does not keep everybody else waiting. */
export async function inTurn<T>(sessionId: string, read: () => Promise<T>): Promise<T> {
  const own = sessions.get(sessionId) ?? { turn: pLimit(readsAtOnce), users: 0 };
  sessions.set(sessionId, own);
  own.users += 1;
  try {
    return await own.turn(read);
  } finally {
    own.users -= 1;
    if (own.users === 0) sessions.delete(sessionId);
  }
}
