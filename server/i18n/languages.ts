import { languageCookie, negotiate, pickLanguage, type ReaderWishes } from '#protocol/index.ts';
import { cookieIn } from '#server/platform/cookie.ts';

/** Languages in which the portal itself speaks; the first is the last resort. */
export const languages = ['en', 'de'] as const;
export type Language = (typeof languages)[number];

/**
 * What the reader of an answer asks for: the chosen language, then the list of the browser or script. The account's
 * choice (`ofAccount`) goes before the one in the browser's cookie.
 */
export function readerOf(headers: Headers, ofAccount?: string): ReaderWishes {
  return {
    acceptLanguage: headers.get('accept-language'),
    chosenLanguage: ofAccount ?? cookieIn(headers, languageCookie),
  };
}

/** The portal's language that serves a reader best. */
export function languageFor(reader: ReaderWishes): Language {
  const picked = pickLanguage(negotiate(reader), languages);
  return languages.find((language) => language === picked) ?? languages[0];
}
