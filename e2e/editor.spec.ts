import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { Page } from '@playwright/test';
import { expectAccessibleInBothThemes } from './support/accessibility.ts';
import type { Api } from './support/api.ts';
import { dumpDatabase, withDatabase } from './support/database.ts';
import type { Portal } from './support/portal.ts';
import { expect, test } from './support/test.ts';
import { zipOf } from './support/zip.ts';

/**
 * Chromium logs every rejected request. Some journeys provoke rejections, and pages that do not exist are prefetched.
 */
const refused = /status of (404|412)/;
const handler = 'Acme.Editor.Mount';
const bare = 'Acme.Editor.Bare';

const commands = Object.fromEntries(
  ['install', 'update', 'enable', 'disable', 'uninstall'].map((command) => [`${command}Command`, 'bin/run.sh']),
);
const manifest = [
  {
    version: 1.0,
    handlerManifest: {
      ...commands,
      rebootAfterInstall: false,
      reportHeartbeat: false,
      supportsMultipleExtensions: true,
    },
  },
];
const settingsSchema = {
  publicSettings: {
    type: 'object',
    additionalProperties: false,
    required: ['server'],
    properties: {
      server: { type: 'string', title: 'Server', minLength: 1 },
      retrySeconds: { type: 'integer', title: 'Retry after', minimum: 5, default: 10 },
      readOnly: { type: 'boolean', title: 'Read only' },
      hosts: { type: 'array', title: 'Hosts', items: { type: 'string' } },
      labels: { type: 'object', title: 'Labels', additionalProperties: { type: 'string' } },
    },
  },
  protectedSettings: {
    type: 'object',
    additionalProperties: false,
    required: ['password'],
    properties: {
      password: { type: 'string', title: 'Password', minLength: 4 },
      keytab: { type: 'string', title: 'Keytab' },
    },
  },
};

test.beforeAll(async ({ api }) => {
  await api.ensurePublisher('Acme.Editor');
  const zip = await zipOf({ 'HandlerManifest.json': JSON.stringify(manifest), 'bin/run.sh': '#!/bin/sh\nexit 0\n' });
  await api.publish(handler, '1.0.0.0', zip, { settingsSchema });
  await api.publish(bare, '1.0.0.0', zip);
  const next = await zipOf({ 'HandlerManifest.json': JSON.stringify(manifest), 'bin/run.sh': '#!/bin/sh\nexit 1\n' });
  await api.publish(handler, '1.1.0.0', next, { settingsSchema });
});

test.beforeEach(({ console }) => console.allow(refused));

const apply = (page: Page) => page.getByRole('button', { name: 'Apply to 1 VM' });
const json = (page: Page) => page.getByRole('textbox', { name: 'Public settings as JSON' });

/** Types the text, because the editor ignores direct changes to its elements. */
async function write(page: Page, text: string): Promise<void> {
  await json(page).click();
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.insertText(text);
}

interface Stored {
  name: string;
  changedBy: string;
}

const secured = { publicSettings: { server: 'x.example.net' }, protectedSettings: { password: 'some password' } };

async function settingsOf(api: Api, vmId: string): Promise<unknown> {
  const { extensions } = await api.call<{ extensions: { name: string }[] }>('GET', `/vms/${vmId}/instance-view`);
  const [name = ''] = extensions.map((extension) => extension.name).filter((one) => one === 'mount' || one === 'new');
  const declared = await api.call<{ publicSettings: unknown }>('GET', `/vms/${vmId}/extensions/${name}`);
  return declared.publicSettings;
}

function declare(api: Api, vmId: string, publicSettings: Record<string, unknown>) {
  return api.setExtension(vmId, 'mount', {
    handler,
    version: '1.0.0.0',
    settings: { publicSettings, protectedSettings: { password: 'old password' } },
  });
}

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

test('form and JSON follow each other, and invalid JSON loses nothing', async ({ api, signedIn, unique }) => {
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

  // Tab moves the focus out of the editor. A link asks for confirmation before unsaved changes are lost.
  await json(page).press('Tab');
  await expect(json(page)).not.toBeFocused();
  await page.getByRole('link', { name: 'Discard' }).click();
  await expect(page.getByRole('alertdialog')).toContainText('Leave without applying changes?');
  await page.getByRole('button', { name: 'Stay' }).click();
  await expect(json(page)).toContainText('"b.example.net", ');
});

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

test('a revert says which protected settings return, and by whom and when they were entered', async ({
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
  await expect(dialog.getByText(/^mount: password returns to the value that Bootstrap token entered/)).toBeVisible();
  await expect(dialog.getByText(/keytab/)).toHaveCount(0);
  await expectAccessibleInBothThemes(page);
});

test('individual protected settings are removed and kept, and a corrected value loses its error', async ({
  api,
  signedIn,
  unique,
}) => {
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

test('settings that no schema defines are listed by name, and one is added', async ({ api, signedIn, unique }) => {
  const vm = await api.createVm(`editor-${unique}`);
  const settings = { publicSettings: {}, protectedSettings: { zone: 'a', alias: 'b' } };
  await api.setExtension(vm.id, 'new', { handler: bare, version: '1.0.0.0', settings });
  const page = await signedIn('operator');
  await page.goto(`/vms/${vm.id}/extensions/new`);
  await expect(page.getByRole('button', { name: /^Change / })).toHaveText(['Change', 'Change']);
  await page.getByRole('button', { name: 'Remove alias' }).click();
  await page.getByRole('button', { name: 'Add setting' }).click();
  await page.getByLabel('Name', { exact: true }).fill('zone');
  await expect(page.getByText('This setting already exists. Change it above.')).toBeVisible();
  await page.getByLabel('Name', { exact: true }).fill('token');
  await page.getByLabel('Value', { exact: true }).fill('new value');
  await expect(page.getByText('2 changes, sequence 1 to 2')).toBeVisible();
  await expectAccessibleInBothThemes(page);
  await apply(page).click();
  await expect(page).toHaveURL(`/vms/${vm.id}`);
  const view = await api.call<{ protectedSettings: { settings: Stored[] } }>('GET', `/vms/${vm.id}/extensions/new`);
  expect(view.protectedSettings.settings.map(({ name }) => name)).toEqual(['token', 'zone']);
});

test('the second of two operators sees the conflict, merges both changes and applies the result', async ({
  api,
  signedIn,
  unique,
}) => {
  const vm = await api.createVm(`editor-${unique}`);
  await declare(api, vm.id, { server: 'a.example.net', retrySeconds: 10 });
  const [ada, grace] = [await signedIn('admin'), await signedIn('operator')];
  for (const page of [ada, grace]) await page.goto(`/vms/${vm.id}/extensions/mount`);
  await grace.getByLabel('Server').fill('grace.example.net');
  await grace.getByLabel('Read only').check();
  await ada.getByLabel('Server').fill('ada.example.net');
  await ada.getByLabel('Retry after').fill('30');
  await expect(apply(ada)).not.toHaveAttribute('aria-disabled');
  await apply(ada).click();
  await expect(ada).toHaveURL(`/vms/${vm.id}`);

  // Even before Grace applies her change, the page says that someone else changed the extension, and keeps her text.
  await expect(grace.getByText('changed mount while you were editing. Your changes are kept.')).toBeVisible();
  await expect(grace.getByLabel('Server')).toHaveValue('grace.example.net');
  await expect(apply(grace)).toHaveAttribute('aria-disabled', 'true');
  await grace.getByRole('button', { name: 'Compare' }).first().click();
  await expect(
    grace.getByRole('heading', { name: 'Someone published goal state 3 while you were editing.' }),
  ).toBeFocused();
  const choice = (name: string) => grace.getByRole('group', { name, exact: true });
  await expect(choice('Server')).toContainText('changed by both');
  await expect(choice('Retry after').getByRole('radio', { name: 'Theirs 30' })).toBeChecked();
  await expect(choice('Read only').getByRole('radio', { name: 'Mine true' })).toBeChecked();
  await expect(grace.getByText('1 choice left.')).toBeVisible();
  await expectAccessibleInBothThemes(grace);
  await choice('Server').getByRole('radio', { name: 'Mine grace.example.net' }).check();
  await grace.getByRole('button', { name: 'Continue with merged changes' }).click();

  await expect(grace.getByLabel('Server')).toHaveValue('grace.example.net');
  await expect(grace.getByLabel('Retry after')).toHaveValue('30');
  await expect(grace.getByText('2 changes, sequence 2 to 3')).toBeVisible();
  await apply(grace).click();
  await expect(grace).toHaveURL(`/vms/${vm.id}`);
  expect(await settingsOf(api, vm.id)).toEqual({ server: 'grace.example.net', retrySeconds: 30, readOnly: true });
});

test('what was previewed is applied, and one click undoes it', async ({ api, signedIn, unique }) => {
  const vm = await api.createVm(`editor-${unique}`);
  await declare(api, vm.id, { server: 'a.example.net', retrySeconds: 10 });
  await api.setExtension(vm.id, 'behind', { handler, version: '1.0.0.0', dependsOn: ['mount'], settings: secured });
  const page = await signedIn('operator');
  await page.goto(`/vms/${vm.id}/extensions/mount`);
  await page.getByLabel('Server').fill('b.example.net');

  const steps = page.getByRole('region', { name: 'Commands the agent will run' });
  await expect(steps.getByRole('listitem').first()).toContainText('install 1.0.0.0');
  await expect(steps).toContainText('behind waits until this extension is done, then runs again.');
  await expect(steps).toContainText('No machine is connected to this VM yet.');
  await page.getByRole('radio', { name: 'JSON' }).click();
  const diff = page.getByRole('region', { name: 'Public settings before and after' });
  await expect(diff.locator('mark')).toHaveText(['a', 'b']);
  await expectAccessibleInBothThemes(page);

  await apply(page).click();
  await expect(page).toHaveURL(`/vms/${vm.id}`);
  expect(await settingsOf(api, vm.id)).toEqual({ server: 'b.example.net', retrySeconds: 10 });
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect(page.getByText(`${vm.name} reverted to goal state 3`, { exact: true })).toBeVisible();
  expect(await settingsOf(api, vm.id)).toEqual({ server: 'a.example.net', retrySeconds: 10 });

  // The same settings in a different order are not a change.
  await page.goto(`/vms/${vm.id}/extensions/mount`);
  await write(page, '{"retrySeconds": 10, "server": "a.example.net"}');
  await expect(page.getByText('This configuration is already published.')).toBeVisible();
  await expect(apply(page)).toHaveAttribute('aria-disabled', 'true');
});

test('dependencies are shown as a graph; one that would create a cycle cannot be chosen, and the page says why', async ({
  api,
  signedIn,
  unique,
}) => {
  const vm = await api.createVm(`editor-${unique}`);
  await declare(api, vm.id, { server: 'a.example.net' });
  const put = (name: string, dependsOn: string[]) =>
    api.setExtension(vm.id, name, { handler, version: '1.0.0.0', dependsOn, settings: secured });
  await put('second', ['mount']);
  await put('third', ['second']);
  const page = await signedIn('operator');
  await page.goto(`/vms/${vm.id}/extensions/mount`);
  const picture = page.getByRole('region', { name: 'Order of extensions' });
  await expect(picture.getByRole('listitem')).toHaveText([
    /mount.*this extension/,
    /second.*Depends on mount/,
    /third/,
  ]);
  await expect(page.getByText('Would create a cycle: mount → third → second → mount')).toBeVisible();
  await expect(page.getByRole('checkbox', { name: /^third/ })).toBeDisabled();
  await put('third', []);
  await page.getByRole('checkbox', { name: /^third/ }).check();
  // Someone else adds the dependency that completes the cycle. The choice can still be cleared.
  await put('third', ['second']);
  await expect(page.getByText('Cycle: mount → third → second → mount. None of these')).toBeVisible();
  await expect(
    page.getByText('The dependencies form a cycle: mount → third → second → mount. Remove one of them.'),
  ).toBeVisible();
  await expect(apply(page)).toHaveAttribute('aria-disabled', 'true');
  await expectAccessibleInBothThemes(page);
  await page.getByRole('button', { name: '1 field to correct' }).click();
  await expect(page.getByRole('checkbox', { name: /^third/ })).toBeFocused();
  await page.getByRole('radio', { name: 'List' }).click();
  await expect(page.getByText('Depends on second.')).toBeVisible();
  await expectAccessibleInBothThemes(page);
});

test('extensions of one handler change their version together, in one goal state', async ({
  api,
  signedIn,
  unique,
}) => {
  const vm = await api.createVm(`editor-${unique}`);
  await declare(api, vm.id, { server: 'a.example.net' });
  await api.setExtension(vm.id, 'other', { handler, version: '1.0.0.0', settings: secured });
  const page = await signedIn('operator');
  await page.goto(`/vms/${vm.id}/extensions/mount`);
  await page.getByLabel('Version', { exact: true }).selectOption('1.1.0.0');
  await expect(page.getByRole('button', { name: '1 field to correct' })).toBeVisible();
  await page.getByRole('checkbox', { name: 'Also change other to 1.1.0.0' }).check();
  await expect(apply(page)).not.toHaveAttribute('aria-disabled');
  await apply(page).click();
  await expect(page).toHaveURL(`/vms/${vm.id}`);
  const { extensions, incarnation } = await api.instanceView(vm.id);
  expect(incarnation).toBe(4);
  expect(extensions.map(({ goalSequenceNumber }) => goalSequenceNumber)).toEqual([2, 2]);
});

test('Back, links and the palette ask before unsaved changes are lost', async ({ api, signedIn, unique }) => {
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

test('if an extension or VM is deleted during an edit, the draft can still be copied', async ({
  api,
  signedIn,
  unique,
}) => {
  const vm = await api.createVm(`editor-${unique}`);
  await declare(api, vm.id, { server: 'a.example.net' });
  const page = await signedIn('operator');
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.goto(`/vms/${vm.id}/extensions/mount`);
  await page.getByLabel('Server').fill('b.example.net');
  await api.call('DELETE', `/vms/${vm.id}/extensions/mount`);
  await expect(page.getByText(`mount was removed from ${vm.name} while you were editing.`)).toBeVisible();
  await page.getByRole('button', { name: 'Copy my settings' }).click();
  expect(JSON.parse(await page.evaluate(() => navigator.clipboard.readText()))).toEqual({ server: 'b.example.net' });
  await page.getByRole('button', { name: 'Compare' }).click();
  await expect(page.getByText('This extension was removed.')).toBeVisible();
  await expectAccessibleInBothThemes(page);
  await page.getByRole('button', { name: 'Add it again' }).click();
  await page.getByLabel('Password').fill('a good password');
  await expect(apply(page)).not.toHaveAttribute('aria-disabled');

  await api.call('DELETE', `/vms/${vm.id}`);
  await expect(page.getByText(`${vm.name} was deleted while you were editing.`)).toBeVisible();
  await expect(apply(page)).toHaveAttribute('aria-disabled', 'true');
  await expectAccessibleInBothThemes(page);
});

test('settings may have names of Object.prototype, and one like a URL', async ({ api, signedIn, unique }) => {
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

test('a viewer sees why editing is not possible, and unknown pages are not found', async ({
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

/** Returns the tables, files and logs that contain a text unencrypted. */
async function placesThatHold(portal: Portal, text: string): Promise<string[]> {
  const tables = await dumpDatabase(portal);
  const found = tables.filter((table) => table.text.includes(text)).map(({ table }) => table);
  // Flushes data that the database keeps in memory to the files that are read below.
  await withDatabase(portal, (client) => client.query('checkpoint'));
  const bytes = Buffer.from(text);
  for (const file of filesBelow(portal.dataDir)) {
    if (readFileSync(file).includes(bytes)) found.push(file);
  }
  return found;
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name));
}
