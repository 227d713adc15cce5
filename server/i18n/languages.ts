import { languageCookie, negotiate, pickLanguage, type ReaderWishes } from '#protocol/index.ts';
import { cookieIn } from '#server/platform/cookie.ts';

/** The portal's own languages; the first is the fallback. */
export const languages = ['en', 'de'] as const;
export type Language = (typeof languages)[number];

/**
 * The languages of a reader: the chosen one, then the list of the browser or script. The account's choice (`ofAccount`)
 * precedes the one in the browser's cookie.
 */
export function readerOf(headers: Headers, ofAccount?: string): ReaderWishes {
  return {
    acceptLanguage: headers.get('accept-language'),
    chosenLanguage: ofAccount ?? cookieIn(headers, languageCookie),
  };
}

/** The portal's best language for a reader. */
export function languageFor(reader: ReaderWishes): Language {
  const picked = pickLanguage(negotiate(reader), languages);
  return languages.find((language) => language === picked) ?? languages[0];
}
