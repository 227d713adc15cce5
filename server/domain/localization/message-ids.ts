import type { HeartbeatDocument, MessageReference, StatusDocument, StatusObject } from '#protocol/index.ts';

/** Returns the message ids of a status and its substatuses, each with its params. */
export function messagesOfStatus(status: StatusDocument | StatusObject): MessageReference[] {
  const own = status.message === undefined ? [] : [status.message];
  return [...own, ...status.substatus.flatMap(messagesOfStatus)];
}

/** Returns the message id of a heartbeat with its params; empty if the heartbeat has none. */
export function messagesOfHeartbeat({ message }: HeartbeatDocument): MessageReference[] {
  return message?.reference === undefined ? [] : [message.reference];
}
