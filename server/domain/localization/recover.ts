import type { HeartbeatDocument, StatusObject } from '#protocol/index.ts';
import type { MessageMatcher } from './message-matcher.ts';

/** Characters that are still looked for in one report: texts that nobody wrote to be found would keep all others waiting. */
export interface RecoveryRoom {
  characters: number;
}

/** For a thousand substatuses of a line each; what comes after it stays as it was sent. */
export const recoveryRoom = (): RecoveryRoom => ({ characters: 64 * 1_024 });

/**
 * Completes a status that was just read: where it or a substatus has a text and no id, the id that the text came from,
 * if that is certain, marked as recovered. The text stays.
 */
export function recoverStatus(status: StatusObject, matcher: MessageMatcher | undefined, room = recoveryRoom()): void {
  if (matcher === undefined) return;
  if (status.message === undefined && status.formattedMessage !== undefined) {
    const found = find(matcher, status.formattedMessage.message, room);
    if (found !== null) status.message = { ...found, recovered: true };
  }
  for (const below of status.substatus) recoverStatus(below, matcher, room);
}

/** The same of a heartbeat. */
export function recoverHeartbeat(
  { message }: HeartbeatDocument,
  matcher: MessageMatcher | undefined,
  room = recoveryRoom(),
): void {
  const text = message?.formattedMessage?.message ?? message?.text;
  if (matcher === undefined || message === undefined || message.reference !== undefined || text === undefined) return;
  const found = find(matcher, text, room);
  if (found !== null) message.reference = { ...found, recovered: true };
}

function find(matcher: MessageMatcher, text: string, room: RecoveryRoom): ReturnType<MessageMatcher['match']> {
  room.characters -= text.length;
  return room.characters < 0 ? null : matcher.match(text);
}
