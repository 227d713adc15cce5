import { bundlesOf } from '#app/_lib/i18n/catalog.ts';
import type { WordNamespace } from '#app/_lib/i18n/namespaces.ts';
import { translate, type Values } from '#app/_lib/i18n/translate.ts';

/** Returns one of the pages' texts in a language: `say('vms:enroll')`. */
export type Speech = (key: `${WordNamespace}:${string}`, values?: Values) => string;

/**
 * Returns a function that looks up the pages' texts in this language. Screenshots find elements by text, and the texts
 * come from `locales/`.
 */
export function speechOf(language: string): Speech {
  return (key, values) => {
    const namespace = key.slice(0, key.indexOf(':')) as WordNamespace;
    return translate(language, bundlesOf(language, [namespace]), [namespace], key, values);
  };
}
