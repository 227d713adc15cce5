import type { HeartbeatDocument, StatusObject } from '#protocol/index.ts';
import type { MessageMatcher } from './message-matcher.ts';

/**
 * Number of characters that may still be matched for a report. The limit ensures that hostile texts cannot delay other
 * reports.
 */
export interface RecoveryBudget {
  characters: number;
}

/** Enough for a thousand one-line substatuses. Further texts are kept as they were sent. */
export const recoveryBudget = (): RecoveryBudget => ({ characters: 64 * 1_024 });

/**
 * Adds message ids to texts without an id in a parsed status and its substatuses, where a match is certain. Marks these
 * ids as recovered and keeps the texts.
 */
export function recoverStatus(
  status: StatusObject,
  matcher: MessageMatcher | undefined,
  room = recoveryBudget(),
): void {
  if (matcher === undefined) return;
  if (status.message === undefined && status.formattedMessage !== undefined) {
    const found = find(matcher, status.formattedMessage.message, room);
    if (found !== null) status.message = { ...found, recovered: true };
  }
  for (const below of status.substatus) recoverStatus(below, matcher, room);
}

/** Adds the id to the text of a heartbeat, like `recoverStatus`. */
export function recoverHeartbeat(
  { message }: HeartbeatDocument,
  matcher: MessageMatcher | undefined,
  room = recoveryBudget(),
): void {
  const text = message?.formattedMessage?.message ?? message?.text;
  if (matcher === undefined || message === undefined || message.reference !== undefined || text === undefined) return;
  const found = find(matcher, text, room);
  if (found !== null) message.reference = { ...found, recovered: true };
}

function find(matcher: MessageMatcher, text: string, room: RecoveryBudget): ReturnType<MessageMatcher['match']> {
  room.characters -= text.length;
  return room.characters < 0 ? null : matcher.match(text);
}
