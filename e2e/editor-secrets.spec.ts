import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expectAccessibleInBothThemes } from './support/accessibility.ts';
import { dumpDatabase, withDatabase } from './support/database.ts';
import { apply, bare, declare, handler, publishMounts, refused, type Stored } from './support/editor.ts';
import type { Portal } from './support/portal.ts';
import { expect, test } from './support/test.ts';

test.beforeAll(({ api }) => publishMounts(api));
test.beforeEach(({ console }) => console.allow(refused));

test('protected settings are stored and never shown again (AZ-C2)', async ({ api, portal, signedIn, unique }) => {
  const secret = `sesame-${unique}-8f2c41d0c5`;
  const vm = await api.createVm(`editor-${unique}`);
  await declare(api, vm.id, { server: 'a.example.net' });
  const page = await signedIn('operator');
  const answers: Promise<string>[] = [];
  page.on('response', (response) =>
    answers.push(
      response.text().then(
        (text) => `${response.url()} ${text}`,
        () => response.url(),
      ),
    ),
  );

  await page.goto(`/vms/${vm.id}/extensions/mount`);
  await expect(page.getByText('Sealed', { exact: true })).toHaveCount(1);
  await page.getByRole('button', { name: 'Change Password' }).click();
  const password = page.getByLabel('Password required');
  await expect(password).toBeFocused();
  await expect(password).toHaveAttribute('type', 'password');
  await expect(password).toHaveAttribute('autocomplete', 'new-password');
  await password.fill(secret);
  await expect(page.getByText('replaced, values not shown')).toBeVisible();
  await expect(apply(page)).not.toHaveAttribute('aria-disabled');
  await apply(page).click();
  await expect(page).toHaveURL(`/vms/${vm.id}`);

  await page.goto(`/vms/${vm.id}/extensions/mount`);
  await expect(page.getByText('changed', { exact: false }).filter({ hasText: 'by Operator' }).first()).toBeVisible();
  await page.goto(`/vms/${vm.id}`);
  expect(await page.content()).not.toContain(secret);
  // Leaves the page, because only that ends the response of the live connection.
  await page.goto('about:blank');
  const seen = await Promise.all(answers);
  expect(seen.length).toBeGreaterThan(10);
  expect(seen.filter((answer) => answer.includes(secret))).toEqual([]);
  expect(await placesThatHold(portal, secret)).toEqual([]);
});

test('a revert says which protected settings it restores, who entered them and when', { tag: '@long' }, async ({
  api,
  signedIn,
  unique,
}) => {
  const vm = await api.createVm(`editor-${unique}`);
  const protectedSettings = { password: 'old password', keytab: 'old keytab' };
  const settings = { publicSettings: { server: 'a.example.net' }, protectedSettings };
  await api.setExtension(vm.id, 'mount', { handler, version: '1.0.0.0', settings });
  const changed = { set: { password: 'new password' } };
  await api.call('PATCH', `/vms/${vm.id}/extensions/mount/protected-settings`, { body: changed });
  const page = await signedIn('operator');
  await page.goto(`/vms/${vm.id}?tab=goal-state`);
  const history = page.getByRole('list', { name: 'Goal state history' });
  await history.getByRole('button').filter({ hasText: 'added' }).click();
  await page.getByRole('button', { name: 'Revert to 2' }).click();
  const dialog = page.getByRole('alertdialog');
  await expect(dialog.getByText(/^mount: password is reset to the value that Bootstrap token entered/)).toBeVisible();
  await expect(dialog.getByText(/keytab/)).toHaveCount(0);
  await expectAccessibleInBothThemes(page);
});

test('individual protected settings are removed and kept, and a corrected value loses its error', {
  tag: '@long',
}, async ({ api, signedIn, unique }) => {
  const vm = await api.createVm(`editor-${unique}`);
  const protectedSettings = { password: 'old password', keytab: 'old keytab' };
  const settings = { publicSettings: { server: 'a.example.net' }, protectedSettings };
  await api.setExtension(vm.id, 'mount', { handler, version: '1.0.0.0', settings });
  const page = await signedIn('operator');
  await page.goto(`/vms/${vm.id}/extensions/mount`);
  await expect(page.getByRole('button', { name: 'Remove Password' })).toHaveCount(0);
  await page.getByRole('button', { name: 'Remove Keytab' }).click();
  await expect(page.getByText('will be removed', { exact: true })).toBeVisible();
  await page.getByRole('button', { name: 'Change Password' }).click();
  await page.getByLabel('Password required').fill('abc');
  await page.keyboard.press('Tab');
  const fault = page.getByText(/minLength/).first();
  await expect(fault).toBeVisible();
  // The portal does not answer, so only the page can know that the error may be out of date.
  await page.route('**/api/trpc/goalStates.planExtension**', () => new Promise(() => undefined));
  await page.getByLabel('Password required').fill('abcdef');
  await expect(fault).toHaveCount(0);
  await expect(apply(page)).toHaveAttribute('aria-disabled', 'true');
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  await page.getByRole('button', { name: 'Keep current value of Password' }).click();
  await expect(page.getByText('1 change, sequence 1 to 2')).toBeVisible();
  await apply(page).click();
  await expect(page).toHaveURL(`/vms/${vm.id}`);
  await page.goto(`/vms/${vm.id}/extensions/mount`);
  await expect(page.getByText('Sealed', { exact: true })).toHaveCount(1);
  await expect(page.getByLabel('Keytab')).toBeVisible();
});

test('settings that no schema defines are listed by name, and one is added', { tag: '@long' }, async ({
  api,
  signedIn,
  unique,
}) => {
  const vm = await api.createVm(`editor-${unique}`);
  const settings = { publicSettings: {}, protectedSettings: { zone: 'a', alias: 'b' } };
  await api.setExtension(vm.id, 'new', { handler: bare, version: '1.0.0.0', settings });
  const page = await signedIn('operator');
  await page.goto(`/vms/${vm.id}/extensions/new`);
  await expect(page.getByRole('button', { name: /^Change / })).toHaveText(['Change', 'Change']);
  await page.getByRole('button', { name: 'Remove alias' }).click();
  await page.getByRole('button', { name: 'Add setting' }).click();
  await page.getByLabel('Name', { exact: true }).fill('zone');
  await expect(page.getByText('This setting already exists. Change it in the list above.')).toBeVisible();
  await page.getByLabel('Name', { exact: true }).fill('token');
  await page.getByLabel('Value', { exact: true }).fill('new value');
  await expect(page.getByText('2 changes, sequence 1 to 2')).toBeVisible();
  await expectAccessibleInBothThemes(page);
  await apply(page).click();
  await expect(page).toHaveURL(`/vms/${vm.id}`);
  const view = await api.call<{ protectedSettings: { settings: Stored[] } }>('GET', `/vms/${vm.id}/extensions/new`);
  expect(view.protectedSettings.settings.map(({ name }) => name)).toEqual(['token', 'zone']);
});

/** Returns the tables, files and logs that contain a text unencrypted. */
async function placesThatHold(portal: Portal, text: string): Promise<string[]> {
  const tables = await dumpDatabase(portal);
  const found = tables.filter((table) => table.text.includes(text)).map(({ table }) => table);
  // Flushes data that the database keeps in memory to the files that are read below.
  await withDatabase(portal, (client) => client.query('checkpoint'));
  const bytes = Buffer.from(text);
  for (const file of filesBelow(portal.dataDir)) {
    if (contentsOf(file).includes(bytes)) found.push(file);
  }
  return found;
}

/** Reads a file. Returns an empty buffer if it no longer exists: the database may replace its files at any time. */
function contentsOf(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return Buffer.alloc(0);
  }
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name));
}
