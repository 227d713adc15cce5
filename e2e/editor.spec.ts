import type { Page } from '@playwright/test';
import { expectAccessibleInBothThemes } from './support/accessibility.ts';
import { apply, bare, declare, handler, json, publishMounts, refused, settingsOf, write } from './support/editor.ts';
import { expect, test } from './support/test.ts';

test.beforeAll(({ api }) => publishMounts(api));
test.beforeEach(({ console }) => console.allow(refused));

test('an operator adds an extension; a schema error is shown at its field and blocks applying', async ({
  api,
  signedIn,
  unique,
}) => {
  const vm = await api.createVm(`editor-${unique}`);
  const page = await signedIn('operator');
  await page.goto(`/vms/${vm.id}/add-extension`);
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Add an extension');
  await page.getByRole('searchbox', { name: 'Search handlers' }).fill('editor.mount');
  await page.getByRole('link', { name: handler }).click();

  await expect(page.getByLabel('Name on this VM')).toHaveValue('mount');
  await expect(apply(page)).toHaveAttribute('aria-disabled', 'true');
  await page.getByLabel('Server').fill('files.example.net');
  await page.getByLabel('Retry after').fill('2');
  await page.getByLabel('Password').fill('a good password');

  const retry = page.getByLabel('Retry after');
  await expect(page.locator('#setting_retrySeconds-help')).toHaveText('This value must be at least 5.');
  await expect(retry).toHaveAttribute('aria-invalid', 'true');
  await expect(json(page).getByText('/publicSettings/retrySeconds')).toBeVisible();
  await expect(apply(page)).toHaveAttribute('aria-disabled', 'true');
  await expectAccessibleInBothThemes(page);
  await page.getByRole('button', { name: '1 field to correct' }).click();
  await expect(retry).toBeFocused();

  await retry.fill('30');
  await expect(json(page)).toContainText('"retrySeconds": 30');
  await expect(apply(page)).not.toHaveAttribute('aria-disabled');
  await apply(page).click();
  await expect(page).toHaveURL(`/vms/${vm.id}`);
  const view = await api.instanceView(vm.id);
  expect(view.extensions.map(({ name, goalSequenceNumber }) => ({ name, goalSequenceNumber }))).toEqual([
    { name: 'mount', goalSequenceNumber: 1 },
  ]);
});

test('after an extension is applied, the VM’s page never shows the state from before', { tag: '@long' }, async ({
  api,
  signedIn,
  startAgent,
  unique,
}) => {
  const vm = await api.createVm(`editor-${unique}`);
  await startAgent(vm);
  const page = await signedIn('operator');
  await page.goto(`/vms/${vm.id}`);
  const none = page.getByText('No extensions yet');
  await expect(none).toBeVisible({ timeout: 30_000 });
  await page.getByRole('link', { name: 'Add extension' }).first().click();
  await page.getByRole('searchbox', { name: 'Search handlers' }).fill('editor.mount');
  await page.getByRole('link', { name: handler }).click();
  await page.getByLabel('Server').fill('files.example.net');
  await page.getByLabel('Password').fill('a good password');
  await expect(apply(page)).not.toHaveAttribute('aria-disabled');
  await expect(none).toHaveCount(0);
  await page.evaluate(() => {
    const seen: string[] = [];
    new MutationObserver(() => {
      // biome-ignore lint/performance/useDomNodeTextContent: `textContent` includes the text of scripts
      if (document.querySelector('main')?.innerText.includes('No extensions yet')) seen.push(location.pathname);
    }).observe(document.body, { subtree: true, childList: true, characterData: true });
    Object.assign(window, { seenEmpty: seen });
  });
  await apply(page).click();
  await expect(page).toHaveURL(`/vms/${vm.id}`);
  await expect(page.getByRole('heading', { name: 'mount', exact: true })).toBeVisible();
  expect(await page.evaluate(() => (window as unknown as { seenEmpty: string[] }).seenEmpty)).toEqual([]);
});

test('form and JSON follow each other, and invalid JSON loses nothing', { tag: '@long' }, async ({
  api,
  signedIn,
  unique,
}) => {
  const vm = await api.createVm(`editor-${unique}`);
  await declare(api, vm.id, { server: 'a.example.net' });
  const page = await signedIn('operator');
  await page.goto(`/vms/${vm.id}/extensions/mount`);
  await expect(page.getByText('No changes yet.', { exact: true })).toBeVisible();

  await write(page, '{ "server": "b.example.net", "hosts": ["x", "y"] }');
  await expect(page.getByLabel('Server')).toHaveValue('b.example.net');
  await expect(page.getByRole('group', { name: 'Hosts' }).getByRole('textbox')).toHaveCount(2);
  await expect(page.getByText('2 changes, sequence 1 to 2')).toBeVisible();

  await write(page, '{ "server": "b.example.net", ');
  await expect(json(page).getByText('This is not valid JSON yet.')).toBeVisible();
  await expect(page.getByLabel('Server')).toBeDisabled();
  await expect(apply(page)).toHaveAttribute('aria-disabled', 'true');

  // Tab moves the focus out of the editor. A click on a link asks for confirmation before unsaved changes are lost.
  await json(page).press('Tab');
  await expect(json(page)).not.toBeFocused();
  await page.getByRole('link', { name: 'Discard' }).click();
  await expect(page.getByRole('alertdialog')).toContainText('Leave without applying changes?');
  await page.getByRole('button', { name: 'Stay' }).click();
  await expect(json(page)).toContainText('"b.example.net", ');
});

test('Back, links and the palette ask before unsaved changes are lost', { tag: '@long' }, async ({
  api,
  signedIn,
  unique,
}) => {
  const vm = await api.createVm(`editor-${unique}`);
  await declare(api, vm.id, { server: 'a.example.net' });
  const page = await signedIn('operator');
  await page.goto(`/vms/${vm.id}`);
  await page.getByRole('button', { name: 'Actions for mount' }).click();
  await page.getByRole('menuitem', { name: 'Edit' }).click();
  await page.getByLabel('Server').fill('b.example.net');
  const question = page.getByRole('alertdialog', { name: 'Leave without applying changes?' });
  const stay = async () => {
    await expect(question).toBeVisible();
    await page.getByRole('button', { name: 'Stay' }).click();
    await expect(page.getByLabel('Server')).toHaveValue('b.example.net');
  };
  await page.evaluate(() => history.back());
  await stay();
  await page.keyboard.press('ControlOrMeta+k');
  await page.getByRole('dialog').getByRole('combobox').fill('Handlers');
  await page.getByRole('option', { name: 'Handlers' }).first().click();
  await stay();
  await page.evaluate(() => history.back());
  await page.getByRole('button', { name: 'Leave' }).click();
  await expect(page).toHaveURL(`/vms/${vm.id}`);
});

test('settings may be named like members of Object.prototype or like a URL', { tag: '@long' }, async ({
  api,
  signedIn,
  unique,
}) => {
  const vm = await api.createVm(`editor-${unique}`);
  await api.setExtension(vm.id, 'new', { handler: bare, version: '1.0.0.0', settings: { publicSettings: {} } });
  const page = await signedIn('operator');
  await page.goto(`/vms/${vm.id}/extensions/new`);
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('new');
  await write(page, '{ "constructor": "x", "prototype": { "a": 1 } }');
  await expect(apply(page)).not.toHaveAttribute('aria-disabled');
  await apply(page).click();
  await expect(page).toHaveURL(`/vms/${vm.id}`);
  expect(await settingsOf(api, vm.id)).toEqual({ constructor: 'x', prototype: { a: 1 } });
});

test('an extension can be changed by keyboard alone', async ({ api, signedIn, unique }) => {
  const vm = await api.createVm(`editor-${unique}`);
  await declare(api, vm.id, { server: 'a.example.net' });
  const page = await signedIn('operator');
  await page.goto(`/vms/${vm.id}/extensions/mount`);
  const reach = async (target: ReturnType<Page['locator']>) => {
    for (let presses = 0; presses < 80; presses += 1) {
      if (await target.evaluate((element) => element === document.activeElement)) return;
      await page.keyboard.press('Tab');
    }
    await expect(target).toBeFocused();
  };
  await reach(page.getByLabel('Server'));
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.type('keys.example.net');
  await expect(page.getByText('1 change, sequence 1 to 2')).toBeVisible();
  await reach(apply(page));
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(`/vms/${vm.id}`);
  expect(await settingsOf(api, vm.id)).toEqual({ server: 'keys.example.net' });
});

test('a viewer sees why editing is not possible, and unknown pages are not found', { tag: '@long' }, async ({
  api,
  signedIn,
  unique,
}) => {
  const vm = await api.createVm(`editor-${unique}`);
  await declare(api, vm.id, { server: 'a.example.net' });
  const viewer = await signedIn('viewer');
  await viewer.goto(`/vms/${vm.id}/extensions/mount`);
  await expect(viewer.getByRole('heading', { level: 1 })).toHaveText('You need a different role');
  await expectAccessibleInBothThemes(viewer);
  const operator = await signedIn('operator');
  await operator.goto(`/vms/${vm.id}/add-extension`);
  await expect(operator.getByRole('link', { name: handler })).toBeVisible();
  await expectAccessibleInBothThemes(operator);
  await operator.goto(`/vms/${vm.id}/extensions/nothing`);
  await expect(operator.getByRole('heading', { level: 1 })).toHaveText('Page not found');
});
