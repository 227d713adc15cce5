import AxeBuilder from '@axe-core/playwright';
import { expect, type Page } from '@playwright/test';

/**
 * WCAG 2.2 AA in the theme that the page has now; every violation is named with the elements concerned. What was found
 * is looked at once more: a notice that came in meanwhile was half transparent for a moment.
 */
export async function expectAccessible(page: Page): Promise<void> {
  const first = await violationsOf(page);
  const found = first.length === 0 ? first : await violationsOf(page);
  expect(found, `${page.url()} breaks no accessibility rule`).toEqual([]);
}

async function violationsOf(page: Page): Promise<string[]> {
  await endAnimations(page);
  const { violations } = await new AxeBuilder({ page })
    .withTags(['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'])
    .analyze();
  return violations.flatMap(({ id, help, nodes }) => nodes.map((node) => `${id}: ${help}: ${node.target}`));
}

/** Colours in the middle of a transition are nobody's: what ends is put to its end, also where nothing is painted now. */
async function endAnimations(page: Page): Promise<void> {
  await page.evaluate(() => {
    for (const one of document.getAnimations()) {
      if (one.effect?.getComputedTiming().endTime !== Infinity) one.finish();
    }
  });
}

/** The same in light and dark. */
export async function expectAccessibleInBothThemes(page: Page): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    await expectAccessible(page);
  }
  await page.emulateMedia({ colorScheme: null });
}
