import { parseHandlerId } from '#protocol/index.ts';

/**
 * Returns the publisher namespace of a handler. It is empty for an invalid id; no publisher has the empty namespace.
 */
export function namespaceOf(handler: string): string {
  return parseHandlerId(handler)?.namespace ?? '';
}
