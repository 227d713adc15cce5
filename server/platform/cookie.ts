/** Returns the value of a cookie in these headers; null if it is absent or malformed. */
export function cookieIn(headers: Headers, name: string): string | null {
  const prefix = `${name}=`;
  const cookie = (headers.get('cookie') ?? '')
    .split(';')
    .map((part) => part.trim())
    .find((part) => part.startsWith(prefix));
  if (cookie === undefined) return null;
  try {
    return decodeURIComponent(cookie.slice(prefix.length));
  } catch {
    return null;
  }
}
