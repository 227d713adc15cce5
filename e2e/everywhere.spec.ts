import { expectAccessibleInBothThemes } from './support/accessibility.ts';
import { publishSamples } from './support/samples.ts';
import { expect, test } from './support/test.ts';

test('the palette opens VMs, handlers, pages and actions without the mouse', async ({ signedIn, api, unique }) => {
  await publishSamples(api, ['Acme.Lab.Probe']);
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
