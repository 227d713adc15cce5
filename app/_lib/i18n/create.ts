import { createInstance, type FormatterModule, type i18n } from 'i18next';
import { isolateText } from '#protocol/direction.ts';
import { type Bundles, sharedNamespaces } from './namespaces.ts';
import { grouped } from './translate.ts';

/** Returns an i18next instance for one language. Its texts are available immediately. */
export function createWords(language: string, bundles: Bundles): i18n {
  const instance = createInstance().use(formatterOf(language));
  void instance.init({
    lng: language,
    fallbackLng: false,
    ns: [...sharedNamespaces],
    defaultNS: 'common',
    keySeparator: false,
    resources: { [language]: bundles },
    // React already escapes texts; escaping twice would show `&amp;`.
    interpolation: { escapeValue: false, alwaysFormat: true },
    initAsync: false,
    returnNull: false,
  });
  return instance;
}

/**
 * Formats counts in the language's number format, and keeps inserted texts from changing the direction of the sentence.
 */
function formatterOf(language: string): FormatterModule {
  const format: FormatterModule['format'] = (value, _format, _language, options) =>
    options?.interpolationkey === 'count' && typeof value === 'number'
      ? grouped(language, value)
      : typeof value === 'string'
        ? isolateText(value)
        : value;
  return { type: 'formatter', init() {}, add() {}, addCached() {}, format };
}
