import AxeBuilder from '@axe-core/playwright';
import { expect, type Page } from '@playwright/test';

const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/**
 * Checks WCAG 2.2 AA in the current theme; every violation is listed with its elements. Animations are finished first,
 * as with reduced motion: colors in the middle of one are not real.
 */
export async function expectAccessible(page: Page): Promise<void> {
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await endAnimations(page);
  const { violations } = await new AxeBuilder({ page })
    .options({ runOnly: tags, resultTypes: ['violations'] })
    // Pages have no frames, and skipping the search for them halves the time.
    .setLegacyMode(true)
    .analyze();
  await page.emulateMedia({ reducedMotion: null });
  const found = violations.flatMap(({ id, help, nodes }) => nodes.map((node) => `${id}: ${help}: ${node.target}`));
  expect(found, `${page.url()} breaks no accessibility rule`).toEqual([]);
}

/** Finishes animations that began before, even where nothing is painted now. */
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
