import { expectAccessible, expectAccessibleInBothThemes } from './support/accessibility.ts';
import { reported } from './support/reported.ts';
import { publishSamples, sampleGoal } from './support/samples.ts';
import { expect, test } from './support/test.ts';

const probe = 'Acme.Lab.Probe';
const mount = 'Northwind.Storage.Mount';
const snapshot = 'Northwind.Backup.Snapshot';

test.beforeAll(({ api }) => publishSamples(api, [probe, mount, snapshot]));

test('the history says what changed; a revert names its changes, and who published in the meantime', {
  tag: '@long',
}, async ({ signedIn, api, console, unique }) => {
  console.allow(/status of 412/);
  const vm = await api.createVm(`past-${unique}`);
  await api.setExtension(vm.id, 'watch', sampleGoal(probe, { target: 'one.example.net' }));
  await api.setExtension(vm.id, 'watch', sampleGoal(probe, { target: 'two.example.net' }));
  const page = await signedIn('operator');
  await page.goto(`/vms/${vm.id}?tab=goal-state`);
  const history = page.getByRole('list', { name: 'Goal state history' });
  await expect(history.getByRole('button').first()).toContainText('watch: target one.example.net to two.example.net');
  await expect(page.getByRole('region', { name: 'Changes from 2 to 3' })).toContainText('two.example.net');
  await expectAccessibleInBothThemes(page);
  await history.getByRole('button').filter({ hasText: 'added' }).click();
  await expect(page).toHaveURL(/a=1&b=2/);
  await page.getByRole('button', { name: 'Revert to 2' }).click();
  const dialog = page.getByRole('alertdialog');
  await expect(dialog).toContainText('watch: target two.example.net to one.example.net');
  await expect(dialog.getByRole('region', { name: 'Changes from 3 to 2' })).toContainText('one.example.net');
  await expectAccessibleInBothThemes(page);

  await api.setExtension(vm.id, 'second', sampleGoal(snapshot));
  await dialog.getByRole('button', { name: 'Revert to 2' }).click();
  await expect(dialog).toContainText('published goal state 4 in the meantime.');
  await dialog.getByRole('button', { name: 'Compare' }).click();
  await expect(dialog).toContainText('uninstall second');
  await dialog.getByRole('button', { name: 'Revert to 2' }).click();
  await expect(dialog).toHaveCount(0);
  await expect(history.getByRole('button').first()).toContainText('reverted to 2');

  await page.getByRole('button', { name: 'Undo' }).click();
  await expect(history.getByRole('button').first()).toContainText('reverted to 4');
  await expect(page.getByText(`${vm.name} reverted to goal state 4`, { exact: true })).toBeVisible();
  await page.getByRole('link', { name: 'Documents' }).click();
  await expect(page.getByRole('region', { name: 'Goal state' })).toContainText('two.example.net');
  await expectAccessibleInBothThemes(page);
});

test('any two goal states are compared by keyboard and URL; secrets are shown only as changed', {
  tag: '@long',
}, async ({ signedIn, api, unique }) => {
  const vm = await api.createVm(`any-${unique}`);
  const password = `pass-${unique}`;
  const goal = (target: string, secret?: string) => {
    const { settings, ...rest } = sampleGoal(mount, { server: target });
    return { ...rest, settings: { ...settings, ...(secret && { protectedSettings: { password: secret } }) } };
  };
  await api.setExtension(vm.id, 'share', goal('one.example.net', password));
  await api.setExtension(vm.id, 'share', goal('two.example.net'));
  await api.setExtension(vm.id, 'share', goal('two.example.net', `${password}-other`));
  await api.setExtension(vm.id, 'share', goal('three.example.net'));
  const page = await signedIn('operator');
  await page.goto(`/vms/${vm.id}?tab=goal-state`);
  await expect(page.getByRole('region', { name: 'Changes from 4 to 5' })).toContainText('three.example.net');

  await page.getByRole('radio', { name: 'Compare from 4' }).focus();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  const changes = page.getByRole('region', { name: 'Changes from 2 to 5' });
  await expect(changes.locator('mark')).toHaveText(['one', 'three', '1', '4', ', changed']);
  await expect(changes).toContainText('"protectedSettings": "sealed, changed"');
  await expect(changes).not.toContainText(password);
  await expect(page).toHaveURL(/a=2&b=5/);
  await page.getByRole('radio', { name: 'Side by side' }).click();
  await expect(page).toHaveURL(/view=split/);
  await expectAccessibleInBothThemes(page);
  await page.reload();
  await expect(changes).toContainText('three.example.net');
  await expect(page.getByRole('radio', { name: 'Side by side' })).toBeChecked();

  await page.getByRole('heading', { level: 1 }).click();
  await page.keyboard.press('j');
  await expect(page.getByRole('region', { name: 'Changes from 3 to 4' })).toContainText('sealed, changed');
  await page.getByRole('radio', { name: 'JSON' }).click();
  await expect(page.getByRole('region', { name: 'Goal state 4 as JSON' })).toContainText(
    '"hasProtectedSettings": true',
  );
  await expectAccessibleInBothThemes(page);
});

test('documents are shown as sent, filtered and downloaded; a viewer sees why not', { tag: '@long' }, async ({
  signedIn,
  api,
  startAgent,
  unique,
}) => {
  const vm = await api.createVm(`docs-${unique}`);
  await api.setExtension(vm.id, 'watch', sampleGoal(probe));
  await startAgent(vm);
  await reported(api, vm, 'watch', 1);
  const page = await signedIn('operator');
  await page.goto(`/vms/${vm.id}?tab=documents`);
  const status = page.getByRole('region', { name: 'Status', exact: true });
  await expect(status).toContainText('"timestampUTC"');
  await page.getByRole('radio', { name: 'Delivered' }).click();
  await expect(page.getByRole('region', { name: 'Goal state' })).toContainText('"protocol": 1');
  await page.getByLabel('Kind').selectOption('Handler state');
  await expect(page).toHaveURL(/kind=handler/);
  const reports = page.getByRole('region', { name: 'Reports' });
  await reports.getByRole('button').first().click();
  await expect(page.getByRole('region', { name: 'Handler state of watch' })).toContainText('"state"');
  await expectAccessibleInBothThemes(page);
  const file = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Download Status' }).click();
  expect((await file).suggestedFilename()).toBe(`${vm.name}-watch-status.json`);

  const viewer = await signedIn('viewer');
  await viewer.goto(`/vms/${vm.id}?tab=activity`);
  await expect(viewer.getByRole('main')).toContainText('watch');
  await expectAccessible(viewer);
  await viewer.goto(`/vms/${vm.id}?tab=documents`);
  await expect(viewer.getByText('Your role is Viewer')).toBeVisible();
  await expectAccessibleInBothThemes(viewer);
});

test('the time axis shows a change, a failure and a recovery, works by keyboard, has a table', {
  tag: '@long',
}, async ({ signedIn, api, startAgent, unique }) => {
  const vm = await api.createVm(`axis-${unique}`);
  await api.setExtension(vm.id, 'share', sampleGoal(mount, { reachable: false }));
  await startAgent(vm);
  const page = await signedIn('operator');
  await page.goto(`/vms/${vm.id}`);
  const axis = page.getByRole('group', { name: `${vm.name} over the last 30 min` });
  const now = (state: string) => axis.getByRole('img', { name: new RegExp(`^share, ${state}.*since`) });
  await expect(now('failed, a command exited with an error code')).toBeVisible({ timeout: 30_000 });
  await expect(axis.getByRole('link', { name: /^Configuration, .*by/ }).first()).toBeVisible();
  await expect(axis.getByRole('img', { name: /^Actions, .*share added/ })).toBeVisible();
  // Bars less than a few pixels wide are merged, but the failure lasts long enough to be visible.
  await expect(axis.getByRole('img', { name: /^share, failed, .* for ([5-9]|\d\d) s/ })).toBeVisible({
    timeout: 20_000,
  });
  await api.setExtension(vm.id, 'share', sampleGoal(mount, { reachable: true }));
  await expect(now('healthy')).toBeVisible({ timeout: 30_000 });
  // The axis shows one bar, or two if the status failed before the command ended.
  await expect(axis.getByRole('img', { name: /^share, failed, .* to .* \(/ }).first()).toBeVisible();
  await expectAccessibleInBothThemes(page);

  await axis.locator('[tabindex="0"]').focus();
  await page.keyboard.press('End');
  const focused = axis.locator('[data-event]:focus');
  await expect(focused).toHaveAttribute('aria-label', /^share, healthy/);
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('ArrowUp');
  await expect(focused).toHaveAttribute('aria-label', /^Configuration/);
  await expectAccessible(page);
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(/tab=goal-state&a=\d+&b=\d+/);

  await page
    .getByRole('navigation', { name: `Views of ${vm.name}` })
    .getByRole('link', { name: 'Overview' })
    .click();
  await page.getByRole('radio', { name: '6 h' }).click();
  await expect(page).toHaveURL(/range=6h/);
  await page.getByRole('button', { name: 'Show as table' }).click();
  const table = page.getByRole('region', { name: `Events of ${vm.name}` });
  await expect(table.getByRole('row').filter({ hasText: 'failed' }).first()).toContainText('share');
  await expectAccessibleInBothThemes(page);
  await page.setViewportSize({ width: 360, height: 740 });
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360);
  await page.getByRole('button', { name: 'Show as chart' }).click();
  await expectAccessible(page);
});
