import { createInstance, type i18n } from 'i18next';
import { type Bundles, sharedNamespaces } from './namespaces.ts';

/** An i18next instance for one language, ready at once, kept per language on the server. */
export function createWords(language: string, bundles: Bundles): i18n {
  const instance = createInstance();
  void instance.init({
    lng: language,
    fallbackLng: false,
    ns: [...sharedNamespaces],
    defaultNS: 'common',
    keySeparator: false,
    resources: { [language]: bundles },
    // React escapes; escaping twice would show `&amp;`.
    interpolation: { escapeValue: false },
    initAsync: false,
    returnNull: false,
  });
  return instance;
}
