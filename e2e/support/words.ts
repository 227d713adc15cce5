import type { Page } from '@playwright/test';

/**
 * Words on a page in the pseudo-language that came from no file of `locales/`: those are in brackets and accented. What
 * programs and people wrote is left out: code, times, elements with a language of their own, words with a digit, a dot
 * or a dash in them, and what stands in `data`.
 */
export async function wordsWithoutTranslation(page: Page, data: readonly string[]): Promise<string[]> {
  const texts = await page.evaluate(() => {
    const skipped =
      'code, pre, kbd, time, option, .mono, .cm-editor, [lang]:not(html), script, style, [aria-hidden="true"], [aria-labelledby="acts"] li';
    const found: string[] = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
      const parent = node.parentElement;
      if (parent === null || parent.closest(skipped) !== null) continue;
      found.push(node.textContent ?? '');
    }
    for (const element of document.querySelectorAll('[aria-label], [title], [placeholder], img[alt]')) {
      if (element.closest(skipped) !== null) continue;
      for (const name of ['aria-label', 'title', 'placeholder', 'alt']) found.push(element.getAttribute(name) ?? '');
    }
    return found;
  });
  const known = new Set(data.flatMap((text) => text.split(/\s+/)));
  return [...new Set(texts.flatMap((text) => text.split(/[\s,:;()|/]+/)))].filter(
    (word) => /^[A-Za-z]{3,}$/.test(word) && !known.has(word),
  );
}
