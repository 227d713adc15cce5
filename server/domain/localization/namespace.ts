import { parseHandlerId } from '#protocol/index.ts';

/**
 * Returns the publisher namespace of a handler. For an invalid id it is empty, and no publisher has the empty
 * namespace.
 */
export function namespaceOf(handler: string): string {
  return parseHandlerId(handler)?.namespace ?? '';
}
