import { parseHandlerId } from '#protocol/index.ts';

/**
 * Returns the publisher namespace of a handler. The namespace is empty for an invalid id, and no publisher has the
 * empty namespace.
 */
export function namespaceOf(handler: string): string {
  return parseHandlerId(handler)?.namespace ?? '';
}
