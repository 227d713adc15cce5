import { negotiate } from '#protocol/negotiate.ts';

/**
 * Returns the locale for dates on a page in this language. English dates differ by region, so an English page uses the
 * first English region in `Accept-Language`. Pages in other languages use the language.
 */
export function dateLocaleFor(language: string, acceptLanguage: string | null | undefined): string {
  if (language !== 'en') return language;
  const regions = negotiate({ acceptLanguage }).flatMap(({ tag }) => {
    const { language: base, region } = new Intl.Locale(tag);
    return base === 'en' && region !== undefined ? [`en-${region}`] : [];
  });
  return Intl.DateTimeFormat.supportedLocalesOf(regions)[0] ?? language;
}
