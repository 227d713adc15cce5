/** A JSON pointer (RFC 6901) to the place that `path` names, from the root of a document. */
export function jsonPointer(path: readonly PropertyKey[]): string {
  return path.map((part) => `/${String(part).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

/** The property names and indexes along a JSON pointer, or along the fragment of a reference such as `#/a/b`. */
export function pointerPath(pointer: string): string[] {
  return pointer.split('/').slice(1).map(unescapeSegment);
}

/** The property name in one segment of a JSON pointer. */
export function unescapeSegment(segment: string): string {
  return segment.replaceAll('~1', '/').replaceAll('~0', '~');
}
