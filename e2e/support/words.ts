import type { Page } from '@playwright/test';

const language = 'en-XA';

/** What the browser says in the pseudo-language, which it takes for English: months, units, languages, "and". */
const ofTheBrowser = new Set([
  ...Array.from({ length: 12 }, (_, month) =>
    new Intl.DateTimeFormat(language, { month: 'short' }).format(new Date(2026, month)),
  ),
  ...['en', 'de', 'ja'].map((code) => new Intl.DisplayNames(language, { type: 'language' }).of(code) ?? code),
  'bytes',
  'and',
]);

/**
 * Words on a page in the pseudo-language that came from no file of `locales/`: those are in brackets and accented. What
 * programs and people wrote is marked as such on the page: code, times, elements with a language of their own (an empty
 * one where nobody knows it) or with `translate="no"`. Only inside a sentence of ours or in an attribute, where nothing
 * can be marked, may the given names stand.
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
    text.split(/[\s,:;()|/]+/).filter((word) => /^[A-Za-z]{3,}$/.test(word) && !ofTheBrowser.has(word));
  const found = [
    ...texts.flatMap((text) => wordsOf(text).filter((word) => !isOurs(text) || !named.has(word))),
    ...attributes.flatMap((text) => wordsOf(text).filter((word) => !named.has(word))),
  ];
  return [...new Set(found)];
}
