import type { Page } from '@playwright/test';
import { byteUnits } from '#protocol/byte-size.ts';

const language = 'en-XA';

/** Words that do not come from `locales/` and stay English in the pseudo-language: months, units, languages, "and". */
const withoutTranslation = new Set([
  ...Array.from({ length: 12 }, (_, month) =>
    new Intl.DateTimeFormat(language, { month: 'short' }).format(new Date(2026, month)),
  ),
  ...['en', 'de', 'ja'].map((code) => new Intl.DisplayNames(language, { type: 'language' }).of(code) ?? code),
  'bytes',
  ...byteUnits,
  'and',
]);

/**
 * Returns words on a page in the pseudo-language that do not come from `locales/`, whose texts are bracketed and
 * accented. Texts from programs and people are marked on the page: code, times, elements with another language (empty
 * if unknown) or with `translate="no"`. The given names are allowed only inside the portal's sentences and in
 * attributes, where nothing can be marked.
 */
export async function wordsWithoutTranslation(page: Page, names: readonly string[]): Promise<string[]> {
  const { texts, attributes } = await page.evaluate(() => {
    const skipped =
      'code, pre, kbd, time, .cm-editor, [lang]:not(html), [translate="no"], script, style, [aria-hidden="true"]';
    const texts: string[] = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
      if (node.parentElement?.closest(skipped) === null) texts.push(node.textContent ?? '');
    }
    const attributes: string[] = [];
    for (const element of document.querySelectorAll('[aria-label], [title], [placeholder], img[alt]')) {
      if (element.closest(skipped) !== null) continue;
      for (const name of ['aria-label', 'title', 'placeholder', 'alt'])
        attributes.push(element.getAttribute(name) ?? '');
    }
    return { texts, attributes };
  });
  const named = new Set(names.flatMap((name) => name.split(' ')));
  const isOurs = (text: string): boolean => /[[\]·]/.test(text);
  const wordsOf = (text: string): string[] =>
    text.split(/[\s,:;()|/]+/).filter((word) => /^[A-Za-z]{3,}$/.test(word) && !withoutTranslation.has(word));
  const found = [
    ...texts.flatMap((text) => wordsOf(text).filter((word) => !isOurs(text) || !named.has(word))),
    ...attributes.flatMap((text) => wordsOf(text).filter((word) => !named.has(word))),
  ];
  return [...new Set(found)];
}
