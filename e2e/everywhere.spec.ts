import type { Page } from '@playwright/test';
import { expectAccessible, expectAccessibleInBothThemes } from './support/accessibility.ts';
import type { Api, CreatedVm } from './support/api.ts';
import { everyPage } from './support/every-page.ts';
import { helloPlan } from './support/plan-machine.ts';
import { publishSamples, sampleGoal } from './support/samples.ts';
import { expect, test } from './support/test.ts';
import { wordsWithoutTranslation } from './support/words.ts';

const probe = 'Acme.Lab.Probe';

test.use({ portalGroup: 'everywhere' });

test.beforeAll(({ api }) => publishSamples(api, [probe]));

/** Names of the rings of a draft, which its strategy chose. */
const ringNames = ['first', 'tenth', 'half', 'all'];

/** Names chosen by people, which may appear in the portal's sentences. */
const names = ['ada', 'Bootstrap token', 'watch', 'env test', 'role web', helloPlan.Name, ...ringNames];

/** Window sizes: a wide window and a small phone; 720 × 450 is a laptop zoomed to 200%. */
const screens = {
  wide: { width: 1440, height: 900 },
  zoomed: { width: 720, height: 450 },
  narrow: { width: 360, height: 780 },
};

async function expectNoSidewaysScroll(page: Page, what: string): Promise<void> {
  const [scroll, client] = await page.evaluate(() => {
    const { scrollWidth, clientWidth } = document.documentElement;
    return [scrollWidth, clientWidth];
  });
  expect(scroll, `${what} is as wide as the window`).toBeLessThanOrEqual(client ?? 0);
}

/** Creates a VM with an extension, and waits until its machine has reached its goal. */
async function healthyVm(api: Api, startAgent: (vm: CreatedVm) => Promise<unknown>, name: string): Promise<CreatedVm> {
  const vm = await api.createVm(name, { env: 'test', role: 'web' });
  await api.setExtension(vm.id, 'watch', sampleGoal(probe));
  await startAgent(vm);
  const health = async () => (await api.instanceView(vm.id)).extensions[0]?.health;
  await expect.poll(health, { timeout: 30_000 }).toBe('healthy');
  return vm;
}

test('every page passes axe, in both themes and at 200% zoom', async ({ signedIn, api, startAgent, unique }) => {
  test.setTimeout(300_000);
  const vm = await healthyVm(api, startAgent, `everywhere-${unique}`);
  const page = await signedIn('admin', { viewport: screens.wide });
  for await (const name of everyPage(page, { vm, extension: 'watch', handler: probe, api })) {
    await test.step(name, async () => {
      await expectAccessibleInBothThemes(page);
      await page.setViewportSize(screens.zoomed);
      await expectAccessible(page);
      await expectNoSidewaysScroll(page, `${name} at 200 %`);
      await page.setViewportSize(screens.wide);
    });
  }
});

for (const [language, what] of [
  ['en-XA', 'words that are 40 % longer'],
  ['ar-XB', 'words from right to left'],
] as const) {
  test(`every page works with ${what}`, async ({ signedIn, portal, api, startAgent, unique }) => {
    test.setTimeout(300_000);
    const vm = await healthyVm(api, startAgent, `everywhere-${unique}`);
    const page = await signedIn('admin');
    await page.context().addCookies([{ name: 'annex-language', value: language, url: portal.url }]);
    for await (const name of everyPage(page, { vm, extension: 'watch', handler: probe, api })) {
      await test.step(name, async () => {
        await expect(page.locator('html')).toHaveAttribute('dir', language === 'ar-XB' ? 'rtl' : 'ltr');
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

test('the palette opens VMs, handlers, pages and actions without the mouse', async ({ signedIn, api, unique }) => {
  const vm = await api.createVm(`jump-${unique}`);
  const page = await signedIn('admin');
  await page.goto('/handlers');
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Handlers');
  await page.keyboard.press('Control+k');
  await expect(page.getByRole('combobox')).toBeFocused();
  await expectAccessibleInBothThemes(page);
  await page.keyboard.type(vm.name.slice(0, -1).toUpperCase());
  await expect(page.getByRole('option', { name: vm.name })).toHaveAttribute('aria-selected', 'true');
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(`/vms/${vm.id}`);

  await page.keyboard.press('Control+k');
  await expect(page.getByRole('combobox')).toBeFocused();
  await page.keyboard.type('no such thing at all');
  await expect(page.getByText('No results for “no such thing at all”')).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(page.getByRole('combobox')).toHaveCount(0);

  await page.getByRole('button', { name: 'Search or go to' }).click();
  await expect(page.getByRole('combobox')).toBeFocused();
  await page.keyboard.type('dark');
  await page.keyboard.press('Enter');
  await expect(page.locator('html')).toHaveAttribute('data-theme', 'dark');

  await page.keyboard.press('g');
  await page.keyboard.press('h');
  await expect(page).toHaveURL('/handlers');
  await page.keyboard.press('?');
  const keys = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
  await expect(keys).toContainText('Go to VMs');
  await expect(keys).toContainText('Next handler');
});

test('scripts in names and texts from people do not run', async ({ signedIn, portal, api, unique }) => {
  const page = await signedIn('operator');
  const answer = await page.goto('/vms');
  expect(answer?.headers()['content-security-policy']).toMatch(/script-src 'nonce-[^']+' 'strict-dynamic'/);
  const hostile = '<img src=x onerror="document.title=1"><script>document.title=2</script>';
  const vm = await api.createVm(`hostile-${unique}`, { note: hostile });
  await page.goto(`/vms/${vm.id}`);
  await expect(page.getByText(hostile).first()).toBeVisible();
  // The font must also not replace 2x4 with 2×4 or -> with an arrow.
  await expect(page.getByText(hostile).first()).toHaveCSS('font-variant-ligatures', 'no-contextual');
  await expect(page).toHaveTitle(new RegExp(`^${vm.name}`));

  const other = await page.context().newPage();
  await other.goto('about:blank');
  await other.setContent(`<iframe src="${portal.url}/vms"></iframe>`);
  await expect(other.frameLocator('iframe').getByRole('heading')).toHaveCount(0);
});

test('a URL with a broken escape or a NUL is not found, and breaks nothing', async ({ signedIn }) => {
  const page = await signedIn('viewer');
  for (const address of [
    '/handlers/%ff',
    '/handlers/%00',
    '/handlers/%',
    '/vms/%ff',
    '/vms/%00',
    '/handlers/a/versions/%ff',
  ]) {
    expect([address, (await page.request.get(address)).status()]).toEqual([address, 404]);
  }
  for (const address of ['/vms?q=%ff', '/vms?q=%00', '/activity?vm=%ff', '/?lang=%ff', '/vms?cursor=WyJ4Il0']) {
    expect([address, (await page.request.get(address)).status()]).toEqual([address, 200]);
  }
});
