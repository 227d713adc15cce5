/** Returns the JSON pointer (RFC 6901) of a path from the root of a document. */
export function jsonPointer(path: readonly PropertyKey[]): string {
  return path.map((part) => `/${String(part).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

/** Returns the property names and indexes of a JSON pointer, or of a reference's fragment such as `#/a/b`. */
export function pointerPath(pointer: string): string[] {
  return pointer.split('/').slice(1).map(unescapeSegment);
}

/** Returns the property name in a segment of a JSON pointer. */
export function unescapeSegment(segment: string): string {
  return segment.replaceAll('~1', '/').replaceAll('~0', '~');
}
