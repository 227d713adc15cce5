import { createInstance, type InitOptions, type i18n } from 'i18next';
import { type Bundles, sharedNamespaces } from './namespaces.ts';

const options: InitOptions = {
  fallbackLng: false,
  defaultNS: 'common',
  keySeparator: false,
  // React escapes; escaping twice would show `&amp;`.
  interpolation: { escapeValue: false },
  initAsync: false,
  returnNull: false,
};

/** An instance for one language, ready at once. Made anew per language on the server and per tab in the browser. */
export function createWords(language: string, bundles: Bundles, plugin?: (instance: i18n) => void): i18n {
  const instance = createInstance();
  plugin?.(instance);
  void instance.init({ ...options, lng: language, ns: [...sharedNamespaces], resources: { [language]: bundles } });
  return instance;
}
