import { expectAccessibleInBothThemes } from './support/accessibility.ts';
import { apply, declare, handler, publishMounts, refused, secured, settingsOf, write } from './support/editor.ts';
import { expect, test } from './support/test.ts';

test.beforeAll(({ api }) => publishMounts(api));
test.beforeEach(({ console }) => console.allow(refused));

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
  await expect(choice('Retry after').getByRole('radio', { name: 'Other person 30' })).toBeChecked();
  await expect(choice('Read only').getByRole('radio', { name: 'You true' })).toBeChecked();
  await expect(grace.getByText('1 choice left.')).toBeVisible();
  await expectAccessibleInBothThemes(grace);
  await choice('Server').getByRole('radio', { name: 'You grace.example.net' }).check();
  await grace.getByRole('button', { name: 'Continue with merged changes' }).click();

  await expect(grace.getByLabel('Server')).toHaveValue('grace.example.net');
  await expect(grace.getByLabel('Retry after')).toHaveValue('30');
  await expect(grace.getByText('2 changes, sequence 2 to 3')).toBeVisible();
  await apply(grace).click();
  await expect(grace).toHaveURL(`/vms/${vm.id}`);
  expect(await settingsOf(api, vm.id)).toEqual({ server: 'grace.example.net', retrySeconds: 30, readOnly: true });
});

test('the previewed change is applied, and one click undoes it', { tag: '@long' }, async ({
  api,
  signedIn,
  unique,
}) => {
  const vm = await api.createVm(`editor-${unique}`);
  await declare(api, vm.id, { server: 'a.example.net', retrySeconds: 10 });
  await api.setExtension(vm.id, 'behind', { handler, version: '1.0.0.0', dependsOn: ['mount'], settings: secured });
  const page = await signedIn('operator');
  await page.goto(`/vms/${vm.id}/extensions/mount`);
  await page.getByLabel('Server').fill('b.example.net');

  const steps = page.getByRole('region', { name: 'Commands that the agent will run' });
  await expect(steps.getByRole('listitem').first()).toContainText('install 1.0.0.0');
  await expect(steps).toContainText('behind waits until this extension is done and then runs again.');
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

test('dependencies are shown as a graph; a dependency that would create a cycle cannot be chosen, and the page says why', {
  tag: '@long',
}, async ({ api, signedIn, unique }) => {
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

test('extensions of one handler change their version together, in one goal state', { tag: '@long' }, async ({
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

test('if an extension or VM is deleted during an edit, the draft can still be copied', { tag: '@long' }, async ({
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
  await page.getByRole('button', { name: 'Add the extension again' }).click();
  await page.getByLabel('Password').fill('a good password');
  await expect(apply(page)).not.toHaveAttribute('aria-disabled');

  await api.call('DELETE', `/vms/${vm.id}`);
  await expect(page.getByText(`${vm.name} was deleted while you were editing.`)).toBeVisible();
  await expect(apply(page)).toHaveAttribute('aria-disabled', 'true');
  await expectAccessibleInBothThemes(page);
});
