/**
 * An address that the pages can decode. One with a broken escape or a NUL is taken literally, so that it names something
 * unknown, which is a 404, instead of failing inside of the framework or the database.
 */
export function pagePath(target: string): string {
  return isDecodable(target) ? target : target.replaceAll('%', '%25');
}

function isDecodable(part: string): boolean {
  try {
    return !decodeURIComponent(part).includes('\u0000');
  } catch {
    return false;
  }
}
