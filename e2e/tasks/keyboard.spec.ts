import { expectAccessibleInBothThemes } from '../support/accessibility.ts';
import { failingVm, mount, settled } from '../support/failing-vm.ts';
import { publishSamples } from '../support/samples.ts';
import { expect, test } from '../support/test.ts';

test.beforeAll(({ api }) => publishSamples(api, [mount]));

test('the search field never traps the keys: ↓ enters the rows, Escape keeps the text, Enter opens the only match', {
  tag: '@long',
}, async ({ signedIn, api, unique }) => {
  const names = ['a', 'b', 'c'].map((letter) => `row-${letter}-${unique}`);
  for (const name of names) await api.createVm(name);
  // If the list is already open when the worker adds the VMs, the list only announces them.
  const listed = () => api.call<{ items: unknown[] }>('GET', `/vms?q=row-`);
  await expect.poll(async () => (await listed()).items.length, settled).toBe(3);
  const page = await signedIn('viewer');
  await page.goto('/vms');
  const search = page.getByRole('searchbox');
  const matches = (text: string) => page.getByRole('status').filter({ hasText: text });

  await page.keyboard.press('/');
  await page.keyboard.type('row-');
  await expect(matches('3 VMs match')).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(search).toHaveValue('row-');
  await expect(search).not.toBeFocused();
  await page.keyboard.press('/');
  await page.keyboard.press('ArrowDown');
  await expect(search).not.toBeFocused();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('heading', { level: 1 })).toHaveText(names[1] ?? '');

  await page.goBack();
  await page.keyboard.press('/');
  // Keys must take effect even if they are pressed faster than the page renders.
  await search.evaluate((field) => {
    for (const key of ['ArrowDown', 'ArrowDown', 'ArrowDown', 'Enter']) {
      const target = document.activeElement ?? field;
      target.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
    }
  });
  await expect(page.getByRole('heading', { level: 1 })).toHaveText(names[2] ?? '');

  await page.goto('/vms');
  await page.keyboard.press('/');
  await page.keyboard.type(names[2] ?? '');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('heading', { level: 1 })).toHaveText(names[2] ?? '');
});

test('the palette finds states, tags and message IDs, and acts on the VM that is open', { tag: '@long' }, async ({
  signedIn,
  api,
  startAgent,
  unique,
}) => {
  const { vm, agent } = await failingVm(api, startAgent, `palette-${unique}`, { site: `ulm-${unique}` });
  const page = await signedIn('operator');
  await page.goto(`/vms/${vm.id}`);
  await expect(page.getByRole('region', { name: 'Why the VM isn’t done' })).toContainText('share failed', settled);
  await agent.stop();
  const open = async (text: string) => {
    await page.keyboard.press('Control+k');
    // The palette must keep what is typed while it is still loading.
    await page.keyboard.type(text);
    await expect(page.getByRole('dialog').getByRole('combobox')).toHaveValue(text);
  };

  await open('try again');
  await expect(page.getByRole('option', { name: 'Try again: share' })).toBeVisible();
  await expectAccessibleInBothThemes(page);
  await page.keyboard.press('Enter');
  await expect(page.getByText('Retry of share requested', { exact: true })).toBeVisible();

  await open('put on hold');
  await page.keyboard.press('Enter');
  const hold = page.getByRole('dialog', { name: `Put ${vm.name} on hold` });
  await expect(hold.locator(':focus')).toBeAttached();
  await page.keyboard.press('Escape');
  await expect(hold).toBeHidden();

  await open('edit share');
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(`/vms/${vm.id}/extensions/share`);
  await expect(page.getByText('enable: exit code 51')).toHaveCount(0);

  await open('failed');
  await page.getByRole('option', { name: 'VMs: Failed' }).click();
  await expect(page).toHaveURL('/vms?health=failed');

  await open(`ulm-${unique}`);
  await page.getByRole('option', { name: `site: ulm-${unique}` }).click();
  await expect(page.getByRole('link', { name: vm.name, exact: true })).toBeVisible(settled);
  await expect(page.getByRole('status').filter({ hasText: '1 VM matches' })).toBeVisible();
});
