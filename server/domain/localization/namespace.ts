import { parseHandlerId } from '#protocol/index.ts';

/** Returns the publisher namespace of a handler; empty, and so without members, for an invalid id. */
export function namespaceOf(handler: string): string {
  return parseHandlerId(handler)?.namespace ?? '';
}
