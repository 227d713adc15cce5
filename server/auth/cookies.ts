import { cookieIn } from '#server/platform/cookie.ts';
import type { Config } from '#server/platform/env.ts';

/**
 * Names of the sign-in cookies, without their prefix. With the prefix `__Secure-`, browsers accept and send them only
 * over HTTPS.
 */
export type CookieName = 'session_token' | 'passkey' | 'factor' | 'provider';

export function cookieName({ url }: Pick<Config, 'url'>, name: CookieName): string {
  return `${url.startsWith('https:') ? '__Secure-' : ''}annex.${name}`;
}

/**
 * Returns a `Set-Cookie` header for this host only, with HttpOnly and SameSite. An age of 0 seconds deletes the cookie.
 */
export function setCookie(config: Pick<Config, 'url'>, name: CookieName, value: string, maxAgeSeconds: number): string {
  const secure = config.url.startsWith('https:') ? '; Secure' : '';
  const attributes = `Max-Age=${maxAgeSeconds}; Path=/; HttpOnly; SameSite=Lax${secure}`;
  return `${cookieName(config, name)}=${encodeURIComponent(value)}; ${attributes}`;
}

/** Returns the value of a cookie; null if it is absent or malformed. */
export function readCookie(config: Pick<Config, 'url'>, headers: Headers, name: CookieName): string | null {
  return cookieIn(headers, cookieName(config, name));
}
