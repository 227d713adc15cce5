import Negotiator from 'negotiator';

/** Languages in which the portal itself speaks; the first is the last resort. */
export const languages = ['en', 'de'] as const;
export type Language = (typeof languages)[number];

/** A header longer than this is no list of languages that a person speaks. */
const headerLength = 1_000;

/** The portal's language that fits an `Accept-Language` header best. Malformed parts are ignored. */
export function pickLanguage(acceptLanguage: string | null | undefined): Language {
  if (!acceptLanguage || acceptLanguage.length > headerLength) return languages[0];
  const negotiator = new Negotiator({ headers: { 'accept-language': acceptLanguage } });
  const picked = negotiator.language([...languages]);
  return languages.find((language) => language === picked) ?? languages[0];
}
