import { languageCookie } from '#protocol/language-cookie.ts';

/** Cookies that store choices that the server needs before rendering. The pages set no other cookies. */
export const cookieNames = {
  language: languageCookie,
  theme: 'annex-theme',
  timeZone: 'annex-zone',
  fleetLook: 'annex-fleet',
} as const;

const year = 365 * 24 * 60 * 60;

/** Stores a choice for a year. Browser only. */
export function writeChoice(name: keyof typeof cookieNames, value: string): void {
  const secure = location.protocol === 'https:' ? '; Secure' : '';
  // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API is asynchronous, and a reload may follow immediately
  document.cookie = `${cookieNames[name]}=${encodeURIComponent(value)}; Path=/; Max-Age=${year}; SameSite=Lax${secure}`;
}

/** Returns the stored choice, or undefined. Browser only. */
export function readChoice(name: keyof typeof cookieNames): string | undefined {
  const found = document.cookie.split('; ').find((part) => part.startsWith(`${cookieNames[name]}=`));
  return found === undefined ? undefined : decodeURIComponent(found.slice(cookieNames[name].length + 1));
}
