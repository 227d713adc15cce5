import { parseHandlerId } from '#protocol/index.ts';

/** Returns the publisher namespace of a handler. For an invalid id it is empty, a namespace that has no members. */
export function namespaceOf(handler: string): string {
  return parseHandlerId(handler)?.namespace ?? '';
}
