import { expectAccessible, expectAccessibleInBothThemes } from './support/accessibility.ts';
import { bare, handler, publishMounts, secured } from './support/editor.ts';
import { reported } from './support/reported.ts';
import { publishSamples, sampleGoal } from './support/samples.ts';
import { expect, test } from './support/test.ts';

const probe = 'Acme.Lab.Probe';
const mount = 'Northwind.Storage.Mount';
const snapshot = 'Northwind.Backup.Snapshot';

// Spreads the tests of this long file over all workers, so that the run does not end with a single busy worker.
test.describe.configure({ mode: 'parallel' });
test.beforeAll(({ api }) => publishSamples(api, [probe, mount, snapshot]));

const aboutASecond = { timeout: 1_500 };

test('an agent’s report is on the page within about a second, without a reload', async ({
  signedIn,
  api,
  startAgent,
  unique,
}) => {
  const vm = await api.createVm(`live-${unique}`, { env: 'test' });
  await api.setExtension(vm.id, 'watch', sampleGoal(probe, { target: 'first.example.net' }));
  const page = await signedIn('operator');
  await page.goto(`/vms/${vm.id}`);
  await expect(page.getByRole('heading', { level: 1 })).toHaveText(vm.name);
  await expect(page.getByText(`${vm.name} has no agent yet`)).toBeVisible();

  await startAgent(vm);
  await reported(api, vm, 'watch', 1);
  const card = page.getByRole('article', { name: 'watch' });
  await expect(card).toContainText('Watching first.example.net. Times enabled: 1.', aboutASecond);
  await expect(card).toContainText('Healthy');
  await expect(page.getByText('1 extension, done')).toBeVisible();
  await expect(page.getByRole('heading', { name: 'Why the VM isn’t done' })).toHaveCount(0);

  await api.setExtension(vm.id, 'watch', sampleGoal(probe, { target: 'second.example.net' }));
  await reported(api, vm, 'watch', 2);
  await expect(card).toContainText('Watching second.example.net. Times enabled: 2.', aboutASecond);
  await expect(card).toContainText('sequence 2');
  await expectAccessibleInBothThemes(page);
});

test('AZ-L2 two readers see the same stored status, each in their own language', async ({
  signedIn,
  api,
  startAgent,
  unique,
}) => {
  const vm = await api.createVm(`words-${unique}`);
  await api.setExtension(vm.id, 'watch', sampleGoal(probe, { target: 'www.example.net' }));
  await startAgent(vm);
  const english = await signedIn('operator');
  const german = await signedIn('viewer', { locale: 'de-AT' });
  for (const page of [english, german]) await page.goto(`/vms/${vm.id}`);

  const card = english.getByRole('article', { name: 'watch' });
  await expect(card).toContainText('Watching www.example.net. Times enabled: 1.');
  await expect(card).toContainText('from the resource file');
  const karte = german.getByRole('article', { name: 'watch' });
  await expect(karte).toContainText('www.example.net wird beobachtet. Aktivierungen: 1.');
  await expect(karte.getByText('www.example.net wird beobachtet. Aktivierungen: 1.')).toHaveAttribute('lang', 'de');
  await expect(karte).toContainText('aus der Ressourcendatei');
  await expect(german.getByRole('heading', { name: 'Erweiterungen' })).toBeVisible();
  await expect(german.getByRole('button', { name: /Aktionen/ })).toHaveCount(0);
  await expectAccessible(german);
});

test('a failed extension and its dependent show the chain and the output, until the failure is fixed', async ({
  signedIn,
  api,
  startAgent,
  unique,
}) => {
  const vm = await api.createVm(`chain-${unique}`);
  await api.setExtension(vm.id, 'share', sampleGoal(mount, { reachable: false }));
  await api.setExtension(vm.id, 'snapshots', { ...sampleGoal(snapshot), dependsOn: ['share'] });
  await startAgent(vm);
  const page = await signedIn('operator');
  await page.goto(`/vms/${vm.id}`);
  const why = page.getByRole('region', { name: 'Why the VM isn’t done' });
  await expect(why).toContainText(
    'snapshots cannot start, because it is waiting for share, and share failed with exit code 51.',
  );
  await expect(why.getByRole('listitem')).toHaveCount(5);
  await expect(why).toContainText(/until the deadline; after that, snapshots counts as failed/);
  await expect(why.getByRole('link', { name: 'Edit share' })).toHaveAttribute('href', `/vms/${vm.id}/extensions/share`);
  await expect(page.getByRole('article', { name: 'snapshots' })).toContainText('Waiting for share');
  await expectAccessibleInBothThemes(page);
  await page.setViewportSize({ width: 360, height: 740 });
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360);
  await expectAccessible(page);
  await page.setViewportSize({ width: 1440, height: 900 });

  await why.getByRole('link', { name: 'Show output' }).click();
  await expect(page).toHaveURL(/\?tab=output#output-share$/);
  await expect(page.getByText('First error, line 2')).toBeVisible();
  await expectAccessibleInBothThemes(page);
  await page
    .getByRole('navigation', { name: `Views of ${vm.name}` })
    .getByRole('link', { name: 'Overview' })
    .click();

  await api.setExtension(vm.id, 'share', sampleGoal(mount, { reachable: true }));
  await expect(page.getByText('2 extensions, all done')).toBeVisible({ timeout: 20_000 });
  await expect(why).toHaveCount(0);
});

test('an output that did not load is not shown as empty; on a phone the open tab is visible', { tag: '@long' }, async ({
  signedIn,
  api,
  console,
  unique,
}) => {
  console.allow(/status of 500/);
  const vm = await api.createVm(`unread-${unique}`);
  const page = await signedIn('operator');
  await page.route(/outputs\.list/, (route) => route.fulfill({ status: 500, body: 'no' }));
  await page.goto(`/vms/${vm.id}?tab=output`);
  await expect(page.getByText('The output did not load')).toBeVisible();
  await expect(page.getByText('No output yet')).toHaveCount(0);
  await page.unroute(/outputs\.list/);
  await page.getByRole('button', { name: 'Try again' }).first().click();
  await expect(page.getByText('No output yet')).toBeVisible();

  await page.setViewportSize({ width: 360, height: 740 });
  await page.goto(`/vms/${vm.id}?tab=activity`);
  const tab = page.getByRole('navigation', { name: `Views of ${vm.name}` }).getByRole('link', { name: 'Activity' });
  await expect(tab).toBeInViewport({ ratio: 1 });
});

test('a killed agent is shown as unresponsive with its last state, and recovers when it returns', {
  tag: '@long',
}, async ({ signedIn, api, startAgent, unique }) => {
  test.setTimeout(240_000);
  const vm = await api.createVm(`dies-${unique}`);
  await api.setExtension(vm.id, 'watch', sampleGoal(probe));
  const agent = await startAgent(vm);
  const page = await signedIn('viewer');
  await page.goto(`/vms/${vm.id}`);
  const card = page.getByRole('article', { name: 'watch' });
  await expect(card).toContainText('Ready');
  const late = page.getByRole('status').filter({ hasText: 'This page shows the last known state.' });
  await expect(late).toHaveCount(0);

  await agent.stop('SIGKILL');
  // The announced next call is at most a minute away, plus a grace period.
  await expect(late).toBeVisible({ timeout: 150_000 });
  await expect(card).not.toContainText('Ready');
  await expect(card).toContainText('Watching www.example.net.');
  await expectAccessible(page);

  agent.resume();
  await expect(late).toHaveCount(0, { timeout: 30_000 });
  await expect(card).toContainText('Healthy', { timeout: 30_000 });
});

test('an uninstalled extension stays on the page until the agent has removed it', { tag: '@long' }, async ({
  signedIn,
  api,
  startAgent,
  unique,
}) => {
  const vm = await api.createVm(`leaves-${unique}`);
  await api.setExtension(vm.id, 'watch', sampleGoal(probe));
  const agent = await startAgent(vm);
  await reported(api, vm, 'watch', 1);
  await agent.stop();
  const page = await signedIn('operator');
  await page.goto(`/vms/${vm.id}`);
  const card = page.getByRole('article', { name: 'watch' });
  await card.getByRole('button', { name: 'Actions for watch' }).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('menuitem', { name: 'Uninstall' }).click();
  const dialog = page.getByRole('alertdialog');
  await expect(dialog).toContainText(`Uninstall watch from ${vm.name}?`);
  await expectAccessibleInBothThemes(page);
  await dialog.getByRole('button', { name: 'Uninstall watch' }).click();
  await expect(dialog).toHaveCount(0);
  await expect(card).toContainText('Uninstalling');

  agent.resume();
  await expect(card).toHaveCount(0, { timeout: 20_000 });
  await expect(page.getByRole('heading', { name: 'No extensions yet' })).toBeVisible();
  expect((await api.instanceView(vm.id)).extensions).toEqual([]);
});

test('an extension without an agent is removed by force, after typing its name', async ({ signedIn, api, unique }) => {
  const vm = await api.createVm(`force-${unique}`);
  await api.setExtension(vm.id, 'watch', sampleGoal(probe));
  const page = await signedIn('operator');
  await page.goto(`/vms/${vm.id}`);
  await page.getByRole('button', { name: 'Actions for watch' }).click();
  await page.getByRole('menuitem', { name: 'Force-remove' }).click();
  const dialog = page.getByRole('alertdialog');
  const act = dialog.getByRole('button', { name: 'Force-remove watch' });
  await expect(act).toBeDisabled();
  await dialog.getByRole('textbox').fill('watch');
  await act.click();
  await expect(page.getByRole('article', { name: 'watch' })).toHaveCount(0);
});

test('a VM is renamed, gets a token shown only once, and is deleted after typing its name', { tag: '@long' }, async ({
  signedIn,
  api,
  console,
  unique,
}) => {
  // The page may find out that the VM was deleted before it has navigated.
  console.allow(/status of 404/);
  const vm = await api.createVm(`old-${unique}`);
  const page = await signedIn('operator');
  await page.goto(`/vms/${vm.id}`);
  const menu = page.getByRole('button', { name: 'More' });
  await menu.click();
  await page.getByRole('menuitem', { name: 'Edit name and tags' }).click();
  await page.getByRole('dialog').getByLabel('Name').fill(`new-${unique}`);
  await page.getByRole('dialog').getByLabel('Tags').fill('role=web');
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
  await expect(page.getByRole('heading', { level: 1 })).toHaveText(`new-${unique}`);

  await page.getByRole('button', { name: 'New enrollment token' }).click();
  await expect(page.getByText(/^curl .*ANNEX_ENROLLMENT_TOKEN=annex_enroll_\S+ sh$/)).toBeVisible();
  await expect(page.getByText('The token is valid until')).toBeVisible();
  await expectAccessibleInBothThemes(page);
  await page.reload();
  await expect(page.getByRole('main').getByText('An unused token is valid until')).toBeVisible();
  await expect(page.getByText(/annex_enroll_/)).toHaveCount(0);

  await menu.click();
  await page.getByRole('menuitem', { name: 'Delete VM' }).click();
  await page.getByRole('alertdialog').getByRole('textbox').fill(`new-${unique}`);
  await page
    .getByRole('alertdialog')
    .getByRole('button', { name: `Delete new-${unique}` })
    .click();
  await expect(page).toHaveURL('/vms');
});

test('a VM deleted while its page is open is shown as deleted; an unknown VM is not found', { tag: '@long' }, async ({
  signedIn,
  api,
  console,
  unique,
}) => {
  console.allow(/status of 404/);
  const vm = await api.createVm(`gone-${unique}`);
  const page = await signedIn('viewer');
  await page.goto(`/vms/${vm.id}`);
  await expect(page.getByRole('heading', { level: 1 })).toHaveText(vm.name);
  await api.call('DELETE', `/vms/${vm.id}`);
  await expect(page.getByRole('heading', { level: 1 })).toHaveText(`${vm.name} was deleted`);
  for (const id of [vm.id, '00000000-0000-4000-8000-000000000000', 'nothing']) {
    await page.goto(`/vms/${id}`);
    await expect(page.getByRole('heading', { level: 1 })).toHaveText('Page not found');
  }
});

test('up to eight extensions are cards; more are a table that works by keyboard, in German and on a phone', {
  tag: '@long',
}, async ({ signedIn, api, startAgent, unique }) => {
  await publishMounts(api);
  const vm = await api.createVm(`many-${unique}`);
  for (const name of ['alpha', 'beta', 'delta', 'gamma', 'iota', 'kappa', 'omega']) {
    await api.setExtension(vm.id, name, { handler: bare, version: '1.0.0.0' });
  }
  // The commands of this version fail.
  await api.setExtension(vm.id, 'mount', { handler, version: '1.1.0.0', settings: secured });
  const page = await signedIn('operator', { locale: 'de-DE', viewport: { width: 390, height: 844 } });
  await page.goto(`/vms/${vm.id}`);
  await expect(page.getByRole('article')).toHaveCount(8);
  for (const name of ['rho', 'sigma', 'tau', 'zeta']) {
    await api.setExtension(vm.id, name, { handler: bare, version: '1.0.0.0' });
  }
  await startAgent(vm);

  const table = page.getByRole('table');
  await expect(table.getByRole('row')).toHaveCount(13);
  await expect(page.getByRole('article')).toHaveCount(0);
  await expect(table.getByRole('row').nth(1)).toContainText(/mount.*Fehlgeschlagen/, { timeout: 30_000 });
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
  await expectAccessibleInBothThemes(page);

  const row = table.getByRole('button', { name: 'mount', exact: true });
  const card = page.getByRole('article', { name: 'mount' });
  await row.focus();
  await page.keyboard.press('Enter');
  await expect(row).toHaveAttribute('aria-expanded', 'true');
  await expect(card.getByRole('button', { name: 'Aktionen für mount' })).toBeVisible();
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
  await expectAccessible(page);
  await page.keyboard.press('Tab');
  await expect(card.locator(':focus')).toHaveCount(1);
  await page.keyboard.press('Shift+Tab');
  await page.keyboard.press('Space');
  await expect(card).toHaveCount(0);
  await expect(row).toBeFocused();
});
