import AxeBuilder from '@axe-core/playwright';
import { expect, type Page } from '@playwright/test';

const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/**
 * WCAG 2.2 AA in the theme that the page has now; every violation is named with the elements concerned. What comes in
 * while axe looks is there at once, as for readers who want no motion: colours in the middle of one are nobody's.
 */
export async function expectAccessible(page: Page): Promise<void> {
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await endAnimations(page);
  const { violations } = await new AxeBuilder({ page })
    .options({ runOnly: tags, resultTypes: ['violations'] })
    // No page has frames, and without looking for them axe is done in half the time.
    .setLegacyMode(true)
    .analyze();
  await page.emulateMedia({ reducedMotion: null });
  const found = violations.flatMap(({ id, help, nodes }) => nodes.map((node) => `${id}: ${help}: ${node.target}`));
  expect(found, `${page.url()} breaks no accessibility rule`).toEqual([]);
}

/** Puts to its end what began to move before, also where nothing is painted now. */
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
