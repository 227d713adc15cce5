import type { Page } from '@playwright/test';
import { expectAccessible, expectAccessibleInBothThemes } from './support/accessibility.ts';
import type { Api, CreatedVm } from './support/api.ts';
import { expect, test } from './support/test.ts';

/** Agents install, run scripts and report, which takes seconds on an idle machine and longer on a busy machine. */
const patient = { timeout: 30_000 };

const theMap = (page: Page) => page.getByRole('application', { name: /^Fleet map/ });
const tile = (page: Page, health: string) =>
  page.getByRole('region', { name: 'VMs by health' }).getByRole('link', { name: new RegExp(`^${health}`) });
const failingTogether = (page: Page) => page.getByRole('region', { name: /^Failures/ });

async function figure(page: Page, health: string): Promise<number> {
  const text = await tile(page, health)
    .getByText(/^[\d,]+$/)
    .textContent();
  return Number(text?.replaceAll(',', ''));
}

/** Creates a VM with an extension that fails: its share cannot be mounted, so its command exits with 51. */
async function givenFailing(
  api: Api,
  startAgent: (vm: CreatedVm) => Promise<unknown>,
  name: string,
  tags: Record<string, string>,
): Promise<CreatedVm> {
  const handler = `Overview.${name.replaceAll('-', '')}.Mount`;
  await api.publishSample('Northwind.Storage.Mount', '2.0.0.0', handler);
  const vm = await api.createVm(name, tags);
  await api.setExtension(vm.id, 'share', {
    handler,
    version: '2.0.0.0',
    settings: {
      publicSettings: { server: 'down.example.net', user: 'backup', reachable: false },
      protectedSettings: { password: 'not for the eyes of many' },
    },
  });
  await startAgent(vm);
  return vm;
}

// The overview groups failures that occur at the same time, so other tests must not add any.
test.use({ portalGroup: 'overview' });

test('a failure appears without a reload: in its tile, with its cause, and as an event', { tag: '@long' }, async ({
  api,
  signedIn,
  startAgent,
  unique,
}) => {
  test.setTimeout(90_000);
  const page = await signedIn('viewer');
  await api.createVm(`quiet-${unique}`);
  await page.goto('/');
  await expect(page).toHaveTitle(/^Overview/);
  await expect(page.getByText('Live', { exact: true })).toBeVisible();
  const before = await figure(page, 'Failed');
  await page.evaluate(() => Object.assign(window, { stillTheSamePage: true }));
  const vm = await givenFailing(api, startAgent, `down-${unique}`, { region: 'ap' });

  const link = failingTogether(page).getByRole('link', {
    name: new RegExp(`${vm.name}.*Failed to establish connection`),
  });
  await expect(link).toBeVisible(patient);
  await expect.poll(() => figure(page, 'Failed')).toBe(before + 1);
  const counted = page
    .getByRole('region', { name: 'VMs by health' })
    .getByRole('listitem')
    .filter({ hasText: /^Failed/ });
  await expect(counted).toContainText(/\+[1-9]\d* in 1 h/);
  await expect(counted.getByRole('link', { name: /^[1-9]\d* entered$/ })).toBeVisible();
  await expect(page.getByRole('region', { name: 'Recent events' })).toContainText(
    `share failed on ${vm.name} with exit code 51`,
  );
  await expect(page.getByRole('region', { name: 'Health changes in the last hour' })).toContainText(/[1-9]\d* failed/);
  expect(await page.evaluate(() => 'stillTheSamePage' in window)).toBe(true);
  await expectAccessibleInBothThemes(page);

  const counts = await Promise.all(
    ['Healthy', 'Progressing', 'Degraded', 'Failed', 'Unknown', 'Unresponsive'].map((health) => figure(page, health)),
  );
  const all = await page
    .getByRole('main')
    .getByRole('link', { name: /^[\d,]+ VMs?$/ })
    .and(page.locator('[href="/vms"]'))
    .textContent();
  expect(`${counts.reduce((sum, count) => sum + count, 0)}`).toBe(/^[\d,]+/.exec(all ?? '')?.[0].replaceAll(',', ''));

  await link.click();
  await expect(page).toHaveURL(`/vms/${vm.id}`);
  await page.goto('/');
  await tile(page, 'Failed').click();
  await expect(page).toHaveURL('/vms?health=failed');
});

test('the map works by keyboard, is announced, opens a VM with Enter, and has a table', { tag: '@long' }, async ({
  api,
  signedIn,
  startAgent,
  unique,
}) => {
  test.setTimeout(90_000);
  for (const name of ['a', 'b', 'c']) await api.createVm(`map-${unique}-${name}`, { zone: `one-${unique}` });
  const failing = await givenFailing(api, startAgent, `map-${unique}-d`, { zone: `two-${unique}` });
  const page = await signedIn('viewer');
  await expect.poll(async () => (await api.instanceView(failing.id)).health, patient).toBe('failed');
  await page.goto('/');
  await page
    .getByRole('combobox', { name: 'Group by' })
    .or(page.getByRole('radio', { name: 'None', exact: true }))
    .first()
    .waitFor();
  await groupBy(page, 'None');
  await expect(theMap(page)).toBeVisible();

  // The VM reached by keyboard is announced to screen readers only.
  const announcement = page.getByRole('status').filter({ hasText: / of \d+$/ });
  await theMap(page).focus();
  await page.keyboard.press('Home');
  await page.keyboard.press('ArrowRight');
  await expect(announcement).toContainText(/, 2 of \d+$/);
  await expect(async () => {
    await page.keyboard.press('n');
    await expect(announcement).toContainText(`${failing.name}, Failed, share`, { timeout: 1_500 });
  }).toPass(patient);
  await expectAccessibleInBothThemes(page);
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(`/vms/${failing.id}`);

  await page.goto('/');
  await page.getByRole('button', { name: 'Show as table' }).click();
  await groupBy(page, 'Handler');
  const table = page.getByRole('region', { name: 'Fleet map as a table' });
  await expect(table.getByRole('row').filter({ hasText: `Overview.map${unique}d.Mount` })).toContainText('1');
  await expectAccessibleInBothThemes(page);
  await page.getByRole('button', { name: 'Show as map' }).click();
  await expect(theMap(page)).toBeVisible();
});

test('the URL keeps the grouping of the map: Back undoes it, a link opens it', { tag: '@long' }, async ({
  api,
  signedIn,
  unique,
}) => {
  await api.createVm(`linked-${unique}`, { zone: `zone-${unique}` });
  const page = await signedIn('viewer');
  await page.goto('/');
  await expect(theMap(page)).toBeVisible();
  await groupBy(page, 'Handler');
  await expect(page).toHaveURL('/?by=handler');
  await groupBy(page, 'None');
  await expect(page).toHaveURL('/?by=none');
  await expect(page.getByRole('link', { name: 'All VMs' })).toBeVisible();
  await groupBy(page, 'Handler');
  await expect(page).toHaveURL('/?by=handler');
  await page.goBack();
  await expect(page).toHaveURL('/?by=none');
  await expect(page.getByRole('link', { name: 'All VMs' })).toBeVisible();
  await page.goto('/?by=tag:zone');
  await expect(page.getByRole('link', { name: `zone-${unique}`, exact: true })).toBeVisible();
});

test('a small fleet has a named tile for each VM, with its health and the reason', { tag: '@long' }, async ({
  api,
  signedIn,
  startAgent,
  unique,
}) => {
  test.setTimeout(90_000);
  const failing = await givenFailing(api, startAgent, `tile-${unique}`, {});
  const page = await signedIn('viewer');
  await expect.poll(async () => (await api.instanceView(failing.id)).health, patient).toBe('failed');
  await page.goto('/?by=none');
  const shown = theMap(page).getByRole('link', { name: new RegExp(`^${failing.name} ?Failed ?share: .+`) });
  await expect(shown).toBeVisible(patient);
  await expectAccessibleInBothThemes(page);
  await shown.click();
  await expect(page).toHaveURL(`/vms/${failing.id}`);
});

test('in a larger fleet, the pointer or a key on a cell shows its VM, a click opens it', { tag: '@long' }, async ({
  api,
  signedIn,
  unique,
}) => {
  test.setTimeout(90_000);
  const names = Array.from({ length: 60 }, (_, index) => `point-${unique}-${index}`);
  for (const name of names) await api.createVm(name, { kind: `only-${unique}` });
  const page = await signedIn('viewer');
  await expect(async () => {
    await page.goto('/');
    await groupBy(page, 'None');
    await expect(theMap(page).locator('canvas')).toBeVisible({ timeout: 1_000 });
  }).toPass(patient);
  await theMap(page).focus();
  await page.keyboard.press('Home');
  await page.keyboard.press('ArrowDown');
  await expect(page.getByRole('status').filter({ hasText: /, 2 of \d+$/ })).toBeAttached();
  await page.keyboard.press('Escape');
  await theMap(page)
    .locator('canvas')
    .hover({ position: { x: 3, y: 25 } });
  const card = page.getByText(/last poll|never connected/);
  await expect(card).toBeVisible();
  await page.mouse.down();
  await page.mouse.up();
  await expect(page).toHaveURL(/\/vms\/[0-9a-f-]{36}$/);
});

test('a card that fails to load says so and retries, and the other cards still work', async ({
  signedIn,
  api,
  console,
  unique,
}) => {
  console.allow(/status of 500|503/);
  await api.createVm(`partly-${unique}`);
  const page = await signedIn('viewer');
  await page.goto('/');
  await expect(theMap(page)).toBeVisible();
  await page.route(/overview\.map/, (route) => route.fulfill({ status: 500, body: 'no' }));
  await groupBy(page, 'Handler');
  await expect(page.getByText('The map did not load')).toBeVisible();
  await expect(tile(page, 'Healthy')).toBeVisible();
  await expect(failingTogether(page)).toBeVisible();
  await expectAccessible(page);
  await page.unroute(/overview\.map/);
  await page.getByRole('button', { name: 'Try again' }).click();
  await expect(theMap(page)).toBeVisible();
});

test('nothing is cut off on a phone or at 200% zoom', { tag: '@long' }, async ({ signedIn, api, unique }) => {
  await api.createVm(`narrow-${unique}`);
  for (const options of [
    { viewport: { width: 390, height: 844 } },
    { viewport: { width: 720, height: 450 }, deviceScaleFactor: 2 },
  ]) {
    const page = await signedIn('viewer', options);
    await page.goto('/');
    await expect(theMap(page)).toBeVisible();
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth)).toBe(true);
    await expectAccessibleInBothThemes(page);
  }
});

async function groupBy(page: Page, name: string): Promise<void> {
  const radio = page.getByRole('radio', { name, exact: true });
  const list = page.getByRole('combobox', { name: 'Group by' });
  await radio.or(list).filter({ visible: true }).first().waitFor();
  if (await radio.isVisible()) await radio.click();
  else await list.selectOption({ label: name });
}
