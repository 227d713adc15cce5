import { tabTo } from './support/keyboard.ts';
import { publishSamples, sampleGoal } from './support/samples.ts';
import { expect, test } from './support/test.ts';

const probe = 'Acme.Lab.Probe';
const settled = { timeout: 20_000 };

test.beforeAll(({ api }) => publishSamples(api, [probe]));

test('a VM is reverted by keyboard alone, starting at the sign-in', { tag: '@long' }, async ({
  page,
  portal,
  api,
  startAgent,
  unique,
}) => {
  const vm = await api.createVm(`keys-${unique}`);
  await api.setExtension(vm.id, 'watch', sampleGoal(probe, { target: 'one.example.net' }));
  await api.setExtension(vm.id, 'watch', sampleGoal(probe, { target: 'two.example.net' }));
  await startAgent(vm);

  const views = page.getByRole('navigation', { name: `Views of ${vm.name}` });
  await page.goto('/');
  await expect(page.getByLabel('Email')).toBeFocused();
  await page.keyboard.type(portal.admin.email);
  await page.keyboard.press('Tab');
  await page.keyboard.type(portal.admin.password);
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL('/');
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
  await expect(page.getByText('Live', { exact: true }), 'the page listens').toBeVisible();

  await test.step('the list, with its search and its rows', async () => {
    await page.keyboard.press('g');
    await page.keyboard.press('v');
    await expect(page).toHaveURL(/\/vms$/);
    await expect(page.getByRole('row').nth(1)).toBeVisible();
    await page.keyboard.press('/');
    await page.keyboard.type(vm.name);
    await expect(page).toHaveURL(new RegExp(`q=${vm.name}`));
    await expect(page.getByRole('status').filter({ hasText: '1 VM matches' })).toBeVisible();
    await page.keyboard.press('Escape');
    await tabTo(page, page.getByRole('link', { name: vm.name }));
    await page.keyboard.press('Enter');
    await expect(page).toHaveURL(`/vms/${vm.id}`);
    await expect(page.getByRole('article', { name: 'watch' })).toContainText('two.example.net', settled);
  });

  await test.step('its history, with two goal states compared and the older one published again', async () => {
    await tabTo(page, views.getByRole('link', { name: 'Goal state' }));
    await page.keyboard.press('Enter');
    const history = page.getByRole('list', { name: 'Goal state history' });
    await expect(history).toBeVisible();
    await tabTo(page, history.getByRole('button').filter({ hasText: 'added' }));
    await page.keyboard.press('Enter');
    await expect(page.getByRole('region', { name: 'Changes from 1 to 2' })).toBeVisible();
    await tabTo(page, page.getByRole('button', { name: 'Revert to 2' }));
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('alertdialog');
    await expect(dialog).toContainText('two.example.net');
    await tabTo(page, dialog.getByRole('button', { name: 'Revert to 2' }));
    await page.keyboard.press('Enter');
    await expect(dialog).toHaveCount(0);
    await expect(history.getByRole('button').first()).toContainText('reverted to 2');
  });

  await test.step('the agent has applied the goal state', async () => {
    await tabTo(page, views.getByRole('link', { name: 'Overview' }));
    await page.keyboard.press('Enter');
    await expect(page.getByRole('article', { name: 'watch' })).toContainText('one.example.net', settled);
  });
});
