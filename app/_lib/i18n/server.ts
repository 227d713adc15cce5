import type { FlatNamespace, i18n, TFunction } from 'i18next';
import { cookies, headers } from 'next/headers';
import { cache } from 'react';
import { cookieNames } from '../cookies.ts';
import { availableLanguages, bundlesOf } from './catalog.ts';
import { createWords } from './create.ts';
import { namespaces, type WordNamespace } from './namespaces.ts';
import { negotiateLanguage } from './negotiate.ts';

const instances = new Map<string, i18n>();

/** The language of this request: the person's choice, else the browser's wish, else English. */
export const currentLanguage = cache(async (): Promise<string> => {
  const [jar, head] = await Promise.all([cookies(), headers()]);
  return negotiateLanguage(jar.get(cookieNames.language)?.value, head.get('accept-language'), availableLanguages());
});

/**
 * Words for a server component, by namespace: `const { t } = await words('vms')`.
 * Client components use `useTranslation('vms')` below a `<Words namespaces={['vms']}>`.
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

/** `ltr` or `rtl`, as Unicode's data has it. */
export function directionOf(language: string): 'ltr' | 'rtl' {
  return new Intl.Locale(language).getTextInfo().direction === 'rtl' ? 'rtl' : 'ltr';
}
