/**
 * Returns a path that the pages can decode. If the path contains an invalid escape or an escaped NUL, takes all its
 * escapes literally, so that the response is 404 instead of an error in the framework or the database.
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
