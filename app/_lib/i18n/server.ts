import type { FlatNamespace, i18n, TFunction } from 'i18next';
import { cookies, headers } from 'next/headers';
import { cache } from 'react';
import { negotiate, pickLanguage, type ReaderWishes } from '#protocol/negotiate.ts';
import { cookieNames } from '../cookies.ts';
import { reader } from '../portal.ts';
import { availableLanguages, bundlesOf } from './catalog.ts';
import { createWords } from './create.ts';
import { dateLocaleFor } from './date-locale.ts';
import { baseLanguage, mirroredLanguage, namespaces, pseudoLanguage, type WordNamespace } from './namespaces.ts';

const instances = new Map<string, i18n>();

/** Languages for tests, which must be chosen explicitly. */
const testLanguages: readonly string[] = [pseudoLanguage, mirroredLanguage];

/**
 * The reader's language settings. Uses the cookie if the account has no language, no one is signed in, or the database
 * is down.
 */
const currentReader = cache(async (): Promise<ReaderWishes> => {
  const [jar, head] = await Promise.all([cookies(), headers()]);
  const person = await reader().catch(() => null);
  return {
    acceptLanguage: head.get('accept-language'),
    chosenLanguage: person?.language ?? jar.get(cookieNames.language)?.value,
  };
});

/** The language of this page: the reader's most preferred language that has translations, otherwise English. */
export const currentLanguage = cache(async (): Promise<string> => {
  const wishes = await currentReader();
  const { chosenLanguage } = wishes;
  if (chosenLanguage && testLanguages.includes(chosenLanguage)) return chosenLanguage;
  return pickLanguage(negotiate(wishes), availableLanguages());
});

/** The locale for dates on this page: an English page uses the region that the browser prefers, such as `en-GB`. */
export const currentDateLocale = cache(async (): Promise<string> => {
  const [language, { acceptLanguage }] = await Promise.all([currentLanguage(), currentReader()]);
  return dateLocaleFor(language, acceptLanguage);
});

/** The reader's preferred language, whether or not the pages are translated into it. */
export const preferredLanguage = cache(async (): Promise<string> => {
  return negotiate(await currentReader())[0]?.tag ?? baseLanguage;
});

/**
 * Returns texts for a server component, by namespace: `const { t } = await words('vms')`. Client components use
 * `useTranslation('vms')` below `<Words namespaces={['vms']}>`.
 */
export async function words<N extends WordNamespace & FlatNamespace>(
  namespace: N,
): Promise<{ t: TFunction<N>; language: string }> {
  const language = await currentLanguage();
  return { t: instanceFor(language).getFixedT(language, namespace), language };
}

function instanceFor(language: string): i18n {
  let instance = instances.get(language);
  if (instance === undefined) {
    instance = createWords(language, bundlesOf(language, namespaces));
    instances.set(language, instance);
  }
  return instance;
}

/** Returns `ltr` or `rtl`, according to Unicode's data. */
export function directionOf(language: string): 'ltr' | 'rtl' {
  return new Intl.Locale(language).getTextInfo().direction === 'rtl' ? 'rtl' : 'ltr';
}
