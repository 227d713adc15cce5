import type { Page } from '@playwright/test';
import { samplePackage } from '#samples/build.ts';
import type { Api } from '../support/api.ts';
import { countClicks } from '../support/clicks.ts';
import { settled } from '../support/failing-vm.ts';
import { expect, test } from '../support/test.ts';

/** Publishes three versions of a handler that sort differently as text than as numbers, and adds each to a new VM. */
async function givenThreeVersions(api: Api, handler: string, unique: string): Promise<void> {
  await api.ensurePublisher(handler.slice(0, handler.lastIndexOf('.')));
  const zip = await samplePackage('Acme.Lab.Probe', '1.0.0.0');
  for (const [version, name] of [
    ['1.9.0.0', 'oldest'],
    ['1.10.0.0', 'older'],
    ['2.1.0.0', 'newest'],
  ] as const) {
    await api.publish(handler, version, zip);
    const vm = await api.createVm(`${name}-${unique}`);
    const settings = { publicSettings: { target: 'www.example.net' } };
    await api.setExtension(vm.id, 'probe', { handler, version, settings });
  }
  const listed = () => api.call<{ items: unknown[] }>('GET', `/vms?handler=${handler}&olderThan=2.1.0.0`);
  await expect.poll(async () => (await listed()).items.length, settled).toBe(2);
}

async function expectOlderVms(page: Page, unique: string): Promise<void> {
  await expect(page).toHaveURL(/olderThan=2\.1\.0\.0/);
  await expect(page.getByRole('status').filter({ hasText: '2 VMs match' })).toBeVisible();
  const rows = page.getByRole('table').getByRole('link', { name: new RegExp(`^\\w+-${unique}$`) });
  await expect(rows).toHaveText([`older-${unique}`, `oldest-${unique}`]);
}

test('older than a version: from any page, or from the filters of the list', { tag: '@long' }, async ({
  signedIn,
  api,
  unique,
}) => {
  const handler = `Older.${unique}.Probe`;
  await givenThreeVersions(api, handler, unique);
  const page = await signedIn('viewer');
  await page.goto('/');

  const clicks = await countClicks(page);
  await page.getByRole('navigation').getByRole('link', { name: 'Handlers' }).first().click();
  await expect(page).toHaveURL('/handlers');
  await page.getByRole('row').filter({ hasText: handler }).getByRole('link', { name: 'Probe' }).click();
  await page.getByRole('term').filter({ hasText: 'Older than 2.1.0.0' }).locator('xpath=..').getByRole('link').click();
  await expectOlderVms(page, unique);
  await clicks.expectAtMost('older than a version', 3);

  await page.goto('/vms');
  await clicks.restart();
  await page.getByRole('group', { name: 'Filters' }).getByRole('button', { name: 'Handler' }).click();
  await expect(page.getByRole('combobox', { name: 'Find a handler' })).toBeFocused();
  await page.keyboard.type(handler);
  const older = page.getByRole('option', { name: 'older than 2.1.0.0' });
  await expect(older).toHaveCount(1);
  await older.click();
  await expectOlderVms(page, unique);
  await clicks.expectAtMost('older than a version, from the list', 3);
});
