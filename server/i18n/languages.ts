import { languageCookie, negotiate, pickLanguage, type ReaderWishes } from '#protocol/index.ts';
import { cookieIn } from '#server/platform/cookie.ts';

/** The languages of the portal itself. The first is the fallback. */
export const languages = ['en', 'de'] as const;
export type Language = (typeof languages)[number];

/**
 * Returns the language preferences of a request: the chosen language and Accept-Language. The account's choice
 * (`ofAccount`) takes precedence over the one in the browser's cookie.
 */
export function readerOf(headers: Headers, ofAccount?: string): ReaderWishes {
  return {
    acceptLanguage: headers.get('accept-language'),
    chosenLanguage: ofAccount ?? cookieIn(headers, languageCookie),
  };
}

/** Returns the portal language that suits the reader best. */
export function languageFor(reader: ReaderWishes): Language {
  const picked = pickLanguage(negotiate(reader), languages);
  return languages.find((language) => language === picked) ?? languages[0];
}
