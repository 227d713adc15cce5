import type { Page } from '@playwright/test';
import { runsLong } from '#server/testing/runs-long.ts';
import { expectAccessible, expectAccessibleInBothThemes } from './support/accessibility.ts';
import { fillPortal, openEach, type ShownPortal } from './support/every-page.ts';
import { helloPlan } from './support/plan-machine.ts';
import { maxScriptBytes, scriptBytesOf } from './support/script-size.ts';
import { recordShifts, shiftsWhileLoading } from './support/shifts.ts';
import { expect, test } from './support/test.ts';
import { wordsWithoutTranslation } from './support/words.ts';

test.use({ portalGroup: 'every-page' });

let shown: ShownPortal | undefined;
test.beforeAll(async ({ api, portal }) => {
  shown = await fillPortal(api, portal);
});
test.afterAll(() => shown?.agent.remove());

/** The URLs of all pages. */
const addresses = (): string[] => shown?.addresses ?? [];

/** Every fourth page; all pages with `npm run test:pages`. */
const someAddresses = (): string[] => addresses().filter((_, place) => runsLong || place % 4 === 1);

/** Names of the rings of a draft, which its strategy chose. */
const ringNames = ['first', 'tenth', 'half', 'all'];

/** Names chosen by people, which may appear in the portal's sentences. */
const names = [
  'ada',
  'Bootstrap token',
  'watch',
  'env test',
  'role web',
  'blog',
  'store',
  helloPlan.Name,
  ...ringNames,
];

/** Window sizes: a wide window and two phones; 720 × 450 is a laptop zoomed to 200%. */
const screens = {
  wide: { width: 1440, height: 900 },
  zoomed: { width: 720, height: 450 },
  phone: { width: 390, height: 844 },
  narrow: { width: 360, height: 780 },
};

async function expectNoSidewaysScroll(page: Page, what: string): Promise<void> {
  const [scroll, client] = await page.evaluate(() => {
    const { scrollWidth, clientWidth } = document.documentElement;
    return [scrollWidth, clientWidth];
  });
  expect(scroll, `${what} is as wide as the window`).toBeLessThanOrEqual(client ?? 0);
}

test('every page moves nothing while it loads, and passes axe in both themes and at 200% zoom', async ({
  signedIn,
}) => {
  test.setTimeout(300_000);
  const page = await signedIn('admin', { viewport: screens.wide });
  await page.addInitScript(recordShifts);
  const inAllWays = new Set(someAddresses());
  for await (const name of openEach(page, addresses())) {
    await test.step(name, async () => {
      expect.soft(await shiftsWhileLoading(page), `what moved on ${name}`).toEqual([]);
      if (!inAllWays.has(name)) {
        await expectAccessible(page);
        return;
      }
      await expectAccessibleInBothThemes(page);
      await page.setViewportSize(screens.zoomed);
      await expectAccessible(page);
      await expectNoSidewaysScroll(page, `${name} at 200 %`);
      await page.setViewportSize(screens.wide);
    });
  }
});

for (const [language, direction, what] of [
  ['en-XA', 'ltr', 'words that are 40 % longer'],
  ['ar-XB', 'rtl', 'words from right to left'],
] as const) {
  test(`pages work with ${what}`, { tag: '@long' }, async ({ signedIn, portal }) => {
    test.setTimeout(300_000);
    const page = await signedIn('admin');
    await page.context().addCookies([{ name: 'annex-language', value: language, url: portal.url }]);
    for await (const name of openEach(page, addresses())) {
      await test.step(name, async () => {
        await expect(page.locator('html')).toHaveAttribute('dir', direction);
        if (language === 'en-XA') {
          expect(await wordsWithoutTranslation(page, names), `${name}: words`).toEqual([]);
        }
        for (const [screen, size] of Object.entries(screens)) {
          await page.setViewportSize(size);
          await expectNoSidewaysScroll(page, `${name}, ${screen}`);
        }
      });
    }
  });
}

test('no page moves while it loads on a phone', async ({ signedIn }) => {
  const page = await signedIn('admin', { viewport: screens.phone });
  await page.addInitScript(recordShifts);
  for await (const name of openEach(page, someAddresses())) {
    expect.soft(await shiftsWhileLoading(page), `what moved on ${name}`).toEqual([]);
  }
});

test('no page loads more than 200 kB of script before an interaction', async ({ signedIn }) => {
  const client = (await signedIn('admin')).request;
  const sizes: Record<string, number> = {};
  for (const address of addresses()) sizes[address] = await scriptBytesOf(client, address);
  expect(Object.keys(sizes).length).toBeGreaterThan(10);
  expect(Object.entries(sizes).filter(([, bytes]) => bytes === 0 || bytes > maxScriptBytes)).toEqual([]);
});
