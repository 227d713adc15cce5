import { languageCookie, negotiate, pickLanguage, type ReaderWishes } from '#protocol/index.ts';
import { cookieIn } from '#server/platform/cookie.ts';

/** The portal's own languages. The first is the fallback. */
export const languages = ['en', 'de'] as const;
export type Language = (typeof languages)[number];

/**
 * Returns the wanted languages of a request: the chosen one, then those of Accept-Language. The account's choice
 * (`ofAccount`) takes precedence over the one in the browser's cookie.
 */
export function readerOf(headers: Headers, ofAccount?: string): ReaderWishes {
  return {
    acceptLanguage: headers.get('accept-language'),
    chosenLanguage: ofAccount ?? cookieIn(headers, languageCookie),
  };
}

/** Returns the portal's best language for a reader. */
export function languageFor(reader: ReaderWishes): Language {
  const picked = pickLanguage(negotiate(reader), languages);
  return languages.find((language) => language === picked) ?? languages[0];
}
