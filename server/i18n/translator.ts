import { readdirSync, readFileSync } from 'node:fs';
import { createInstance, type i18n } from 'i18next';
import { formatByteSize } from '#protocol/byte-size.ts';
import { type Language, languages } from './languages.ts';

const folder = new URL('../../locales/', import.meta.url);

/** Languages of the pages. Each has a folder in `locales/`. */
export const pageLanguages: readonly string[] = readdirSync(folder, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map((entry) => entry.name);

function load(language: Language): Record<string, Record<string, string>> {
  const home = new URL(`${language}/`, folder);
  const files = readdirSync(home).filter((file) => file.endsWith('.json'));
  return Object.fromEntries(
    files.map((file) => [file.slice(0, -'.json'.length), JSON.parse(readFileSync(new URL(file, home), 'utf8'))]),
  );
}

function open(language: Language): i18n {
  const instance = createInstance();
  instance.init({
    lng: language,
    fallbackLng: languages[0],
    resources: Object.fromEntries([...new Set([language, languages[0]])].map((lng) => [lng, load(lng)])),
    initAsync: false,
    // Keys are flat and may contain dots and colons. Messages need no escaping, because they are sent as JSON or
    // escaped by React.
    keySeparator: false,
    nsSeparator: false,
    interpolation: { escapeValue: false },
    returnNull: false,
  });
  // Formats bytes: `{{limit, size}}` becomes "64 MiB".
  instance.services.formatter?.add('size', (bytes: unknown, lng) => formatByteSize(lng ?? language, Number(bytes)));
  return instance;
}

const translators: Readonly<Record<Language, i18n>> = { en: open('en'), de: open('de') };

/** Returns a message of a namespace with its placeholders filled in. `count` selects the singular or plural form. */
export function translate(
  language: Language,
  namespace: string,
  key: string,
  params: Readonly<Record<string, string | number>> = {},
): string {
  const count = typeof params.count === 'number' ? { count: params.count } : {};
  // The type of `t` accepts only the pages' keys, but this key may come from another namespace.
  const t = translators[language].t as unknown as (key: string, options: object) => string;
  return t(key, { ns: namespace, replace: params, ...count });
}
