import { DomainError } from '#server/domain/error.ts';
import type { Limits } from '#server/platform/limits.ts';

/** Counts the live streams that this process holds open. */
export interface Streams {
  /**
   * Counts a new stream. Returns a function that stops counting it and may be called twice. Throws 429
   * `session_streams_exceeded` or `member_streams_exceeded`, or 503 `streams_exceeded`.
   */
  open(sessionId: string, memberId: string): () => void;
  /** Returns the number of streams, and how many sessions and members have at least one stream. */
  held(): { streams: number; sessions: number; members: number };
}

/** Seconds after which a rejected page may try again. */
const retryAfter = 15;

/** Creates the counters. Sessions and members without streams use no memory. */
export function openStreams({ perSession, perMember, perProcess }: Limits['streams']): Streams {
  const sessions = new Map<string, number>();
  const members = new Map<string, number>();
  let streams = 0;
  return {
    open(sessionId, memberId) {
      const retry = (limit: number) => ({ params: { limit, seconds: retryAfter }, retryAfter });
      if ((sessions.get(sessionId) ?? 0) >= perSession)
        throw new DomainError('rate_limited', 'session_streams_exceeded', retry(perSession));
      if ((members.get(memberId) ?? 0) >= perMember)
        throw new DomainError('rate_limited', 'member_streams_exceeded', retry(perMember));
      if (streams >= perProcess) throw new DomainError('unavailable', 'streams_exceeded', retry(perProcess));
      const count = (by: 1 | -1): void => {
        add(sessions, sessionId, by);
        add(members, memberId, by);
        streams += by;
      };
      count(1);
      let isOpen = true;
      return () => {
        if (isOpen) count(-1);
        isOpen = false;
      };
    },
    held: () => ({ streams, sessions: sessions.size, members: members.size }),
  };
}

function add(counts: Map<string, number>, key: string, by: 1 | -1): void {
  const count = (counts.get(key) ?? 0) + by;
  if (count === 0) counts.delete(key);
  else counts.set(key, count);
}
