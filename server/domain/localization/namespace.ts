import { parseHandlerId } from '#protocol/index.ts';

/** The publisher's namespace of a handler; empty, and so nobody's, where the id is none. */
export function namespaceOf(handler: string): string {
  return parseHandlerId(handler)?.namespace ?? '';
}
