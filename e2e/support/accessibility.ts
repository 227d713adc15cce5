import AxeBuilder from '@axe-core/playwright';
import { expect, type Page } from '@playwright/test';

const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/**
 * Checks WCAG 2.2 AA in the current theme and lists every violation with its elements. Finishes animations first, as
 * with reduced motion, because colors change during an animation.
 */
export async function expectAccessible(page: Page): Promise<void> {
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await endAnimations(page);
  const { violations } = await new AxeBuilder({ page })
    .options({ runOnly: tags, resultTypes: ['violations'] })
    // Pages have no frames, and not searching for them halves the time.
    .setLegacyMode(true)
    .analyze();
  await page.emulateMedia({ reducedMotion: null });
  const found = violations.flatMap(({ id, help, nodes }) => nodes.map((node) => `${id}: ${help}: ${node.target}`));
  expect(found, `${page.url()} breaks no accessibility rule`).toEqual([]);
}

/** Finishes animations that have begun, even while the page is not painted. */
async function endAnimations(page: Page): Promise<void> {
  await page.evaluate(() => {
    for (const one of document.getAnimations()) {
      if (one.effect?.getComputedTiming().endTime !== Infinity) one.finish();
    }
  });
}

/** Checks the page in the light and the dark theme. */
export async function expectAccessibleInBothThemes(page: Page): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    await expectAccessible(page);
  }
  await page.emulateMedia({ colorScheme: null });
}
