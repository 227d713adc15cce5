import type { HeartbeatDocument, StatusObject } from '#protocol/index.ts';
import type { MessageMatcher } from './message-matcher.ts';

/**
 * Completes a status that was just read: where it or a substatus has a text and no id, the id that the text came from,
 * if that is certain, marked as recovered. The text stays.
 */
export function recoverStatus(status: StatusObject, matcher: MessageMatcher | undefined): void {
  if (matcher === undefined) return;
  if (status.message === undefined && status.formattedMessage !== undefined) {
    const found = matcher.match(status.formattedMessage.message);
    if (found !== null) status.message = { ...found, recovered: true };
  }
  for (const below of status.substatus) recoverStatus(below, matcher);
}

/** The same of a heartbeat. */
export function recoverHeartbeat({ message }: HeartbeatDocument, matcher: MessageMatcher | undefined): void {
  const text = message?.formattedMessage?.message ?? message?.text;
  if (message === undefined || message.reference !== undefined || text === undefined) return;
  const found = matcher?.match(text) ?? null;
  if (found !== null) message.reference = { ...found, recovered: true };
}
