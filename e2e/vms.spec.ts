import { expectAccessibleInBothThemes } from './support/accessibility.ts';
import { expect, test } from './support/test.ts';

test('an operator enrols a VM, and its machine appears without a reload', async ({
  signedIn,
  api,
  startAgent,
  unique,
}) => {
  const page = await signedIn('operator');
  const name = `web-${unique}`;
  await page.goto('/vms');
  await page.getByRole('button', { name: 'Enrol a VM' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill(name);
  await dialog.getByLabel('Tags').fill('role=web, region=eu');
  await expectAccessibleInBothThemes(page);
  await dialog.getByRole('button', { name: 'Make the VM' }).click();
  await expect(dialog.getByText(/npm run -s agent -- enroll --portal .* --token annex_enroll_/)).toBeVisible();
  const commands = (await dialog.textContent()) ?? '';
  const [, token = ''] = /--token (\S+)/.exec(commands) ?? [];
  await page.keyboard.press('Escape');

  const row = page.getByRole('row').filter({ hasText: name });
  await expect(row).toContainText('Never seen');
  const { items } = await api.call<{ items: { id: string }[] }>('GET', `/vms?q=${name}`);
  await startAgent({ id: items[0]?.id ?? '', name, enrollmentToken: token });
  await expect(row).toContainText('Healthy');
  await expect(row).toContainText('role:web');
});

test('a name that is taken is refused at its field', async ({ signedIn, api, console, unique }) => {
  console.allow(/status of 409/);
  const { name } = await api.createVm(`taken-${unique}`);
  const page = await signedIn('operator');
  await page.goto('/vms');
  await page.getByRole('button', { name: 'Enrol a VM' }).click();
  await page.getByRole('dialog').getByLabel('Name').fill(name);
  await page.getByRole('dialog').getByRole('button', { name: 'Make the VM' }).click();
  await expect(page.getByText(`Another VM has the name ${name}.`)).toBeVisible();
});

test('the search finds a part of a name, lives in the address, and says when nothing matches', async ({
  signedIn,
  api,
  unique,
}) => {
  const names = [`find-${unique}-a`, `find-${unique}-b`, `other-${unique}`];
  for (const name of names) await api.createVm(name);
  const page = await signedIn('viewer');
  await page.goto('/vms');
  await expect(page.getByRole('button', { name: 'Enrol a VM' })).toHaveCount(0);
  await page.keyboard.press('/');
  await page.keyboard.type(`FIND-${unique}`);
  await expect(page.getByRole('link', { name: /^find-/ })).toHaveCount(2);
  await expect(page).toHaveURL(new RegExp(`q=FIND-${unique}`));
  await page.reload();
  await expect(page.getByRole('link', { name: /^find-/ })).toHaveCount(2);
  await expectAccessibleInBothThemes(page);

  await page.getByRole('searchbox').fill('nobody-has-this');
  await expect(page.getByRole('heading', { name: 'No VM matches' })).toBeVisible();
  await expectAccessibleInBothThemes(page);
  await page.getByRole('button', { name: 'Clear the search' }).click();
  await expect(page.getByRole('link', { name: names[2] ?? '' })).toBeVisible();
});

test('j and k walk the list, Enter opens', async ({ signedIn, api, unique }) => {
  await api.createVm(`walk-${unique}-a`);
  const second = await api.createVm(`walk-${unique}-b`);
  const page = await signedIn('viewer');
  await page.goto(`/vms?q=walk-${unique}`);
  await expect(page.getByRole('link', { name: /^walk-/ })).toHaveCount(2);
  await page.keyboard.press('j');
  await page.keyboard.press('j');
  await page.keyboard.press('k');
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(`/vms/${second.id}`);
});

test('of many VMs only those in sight are in the document, and scrolling reaches the last', async ({
  signedIn,
  api,
  unique,
}) => {
  const count = 250;
  for (let made = 0; made < count; made += 25) {
    const names = Array.from({ length: 25 }, (_, index) => `many-${unique}-${String(made + index).padStart(3, '0')}`);
    await Promise.all(names.map((name) => api.createVm(name)));
  }
  const page = await signedIn('viewer');
  await page.goto(`/vms?q=many-${unique}`);
  await expect(page.getByRole('link', { name: `many-${unique}-000` })).toBeVisible();
  expect(await page.getByRole('link', { name: /^many-/ }).count()).toBeLessThan(120);
  const last = page.getByRole('link', { name: `many-${unique}-249` });
  await expect(async () => {
    await page.mouse.wheel(0, 4000);
    await expect(last).toBeVisible({ timeout: 100 });
  }).toPass();
});
