import { bundlesOf } from '#app/_lib/i18n/catalog.ts';
import type { WordNamespace } from '#app/_lib/i18n/namespaces.ts';
import { translate, type Values } from '#app/_lib/i18n/translate.ts';

/** Returns a page text in one language: `say('vms:enroll')`. */
export type Speech = (key: `${WordNamespace}:${string}`, values?: Values) => string;

/**
 * Returns a function that returns a page text in this language. Elements are found by these texts, because their names
 * come from `locales/`.
 */
export function speechOf(language: string): Speech {
  return (key, values) => {
    const namespace = key.slice(0, key.indexOf(':')) as WordNamespace;
    return translate(language, bundlesOf(language, [namespace]), [namespace], key, values);
  };
}
