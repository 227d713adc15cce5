import AxeBuilder from '@axe-core/playwright';
import { expect, type Page } from '@playwright/test';

const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/** The rules whose result depends on colors. All other rules give the same result in both themes. */
const rulesOfColors = ['color-contrast', 'link-in-text-block'];

/**
 * Checks WCAG 2.2 AA in the current theme and lists every violation with its elements. Finishes animations first,
 * because colors change during an animation.
 */
export async function expectAccessible(page: Page): Promise<void> {
  await expectNoViolation(page, { type: 'tag', values: tags });
}

/** Checks the page in the light and the dark theme. */
export async function expectAccessibleInBothThemes(page: Page): Promise<void> {
  await page.emulateMedia({ colorScheme: 'light' });
  await expectAccessible(page);
  await page.emulateMedia({ colorScheme: 'dark' });
  await expectNoViolation(page, { type: 'rule', values: rulesOfColors });
  await page.emulateMedia({ colorScheme: null });
}

async function expectNoViolation(page: Page, runOnly: { type: 'tag' | 'rule'; values: string[] }): Promise<void> {
  await endAnimations(page);
  // Loading axe takes a third of the time of a check, so each page loads it only once.
  const isLoaded = await page.evaluate(() => 'axe' in window);
  const { violations } = await new AxeBuilder({ page, ...(isLoaded && { axeSource: 'void 0' }) })
    .options({ runOnly, resultTypes: ['violations'] })
    // Pages have no frames, and not searching for them halves the time.
    .setLegacyMode(true)
    .analyze();
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
