import type { Page } from '@playwright/test';
import { expectAccessibleInBothThemes } from './support/accessibility.ts';
import { expect, test } from './support/test.ts';

const dialog = (page: Page) => page.getByRole('dialog');
const save = (page: Page) => dialog(page).getByRole('button', { name: 'Save' }).click();

/** Opens the form for the name and tags of the VM whose page is open. */
async function openForm(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'More' }).click();
  await page.getByRole('menuitem', { name: 'Edit name and tags' }).click();
  await expect(dialog(page).getByLabel('Name')).toBeFocused();
}

test('two people who edit the name and tags of a VM at the same time lose no change', { tag: '@long' }, async ({
  api,
  console,
  signedIn,
  unique,
}) => {
  console.allow(/status of 412/);
  const vm = await api.createVm(`pair-${unique}`, { role: 'web', owners: 'Ada, Eve' });
  const current = () => api.call<{ name: string; tags: Record<string, string> }>('GET', `/vms/${vm.id}`);
  const [ada, eve] = [await signedIn('admin'), await signedIn('operator')];
  for (const page of [ada, eve]) {
    await page.goto(`/vms/${vm.id}`);
    await openForm(page);
  }

  await test.step('a name and a tag are both kept, and a value with commas survives', async () => {
    await ada.getByRole('textbox', { name: 'Tags' }).fill('role=db, owners="Ada, Eve"');
    await save(ada);
    await expect(dialog(ada)).toHaveCount(0);
    await dialog(eve).getByLabel('Name').fill(`couple-${unique}`);
    await expect(eve.getByRole('textbox', { name: 'Tags' })).toHaveValue('role=web, owners="Ada, Eve"');
    await save(eve);
    await expect(dialog(eve)).toHaveCount(0);
    await expect.poll(current).toMatchObject({
      name: `couple-${unique}`,
      tags: { role: 'db', owners: 'Ada, Eve' },
    });
    await expect(ada.getByRole('heading', { level: 1 })).toHaveText(`couple-${unique}`);
  });

  await test.step('of two changes of one tag, the second is rejected, and its text stays in the form', async () => {
    for (const page of [ada, eve]) await openForm(page);
    await ada.getByRole('textbox', { name: 'Tags' }).fill('role=cache');
    await save(ada);
    await expect(dialog(ada)).toHaveCount(0);
    await eve.getByRole('textbox', { name: 'Tags' }).fill('role=queue');
    await save(eve);
    await expect(dialog(eve).getByRole('alert')).toContainText(
      `Someone else has changed the name or the same tags of couple-${unique} in the meantime.`,
    );
    await expect(eve.getByRole('textbox', { name: 'Tags' })).toHaveValue('role=queue');
    await expectAccessibleInBothThemes(eve);
    expect((await current()).tags).toEqual({ role: 'cache' });
  });

  await test.step('the list of one person follows what the other does', async () => {
    await ada.goto(`/vms?q=couple-${unique}`);
    await expect(ada.getByRole('link', { name: `couple-${unique}` })).toBeVisible();
    await dialog(eve).getByRole('button', { name: 'Cancel' }).click();
    await openForm(eve);
    await dialog(eve).getByLabel('Name').fill(`couple-${unique}-b`);
    await save(eve);
    await expect(ada.getByRole('link', { name: `couple-${unique}-b` })).toBeVisible();
  });
});

test('a name with an invisible character is rejected with a reason, in German too', { tag: '@long' }, async ({
  api,
  console,
  signedIn,
  unique,
}) => {
  console.allow(/status of 422/);
  const vm = await api.createVm(`seen-${unique}`);
  for (const [locale, labels, sentence] of [
    ['en', ['More', 'Edit name and tags', 'Save'], 'The text contains an invisible character'],
    ['de', ['Mehr', 'Name und Tags bearbeiten', 'Speichern'], 'Der Text enthält ein unsichtbares Zeichen'],
  ] as const) {
    const page = await signedIn('operator', { locale });
    await page.goto(`/vms/${vm.id}`);
    await page.getByRole('button', { name: labels[0] }).click();
    await page.getByRole('menuitem', { name: labels[1] }).click();
    await dialog(page).getByLabel('Name').fill(`seen\u200b-${unique}`);
    await dialog(page).getByRole('button', { name: labels[2] }).click();
    await expect(dialog(page).getByText(sentence)).toBeVisible();
  }
});

test('after “Keep current”, the focus stays at the protected setting', { tag: '@long' }, async ({
  api,
  signedIn,
  unique,
}) => {
  const handler = `Keep.${unique}.Mount`;
  await api.publishSample('Northwind.Storage.Mount', '2.0.0.0', handler);
  const vm = await api.createVm(`keeps-${unique}`);
  await api.setExtension(vm.id, 'share', {
    handler,
    version: '2.0.0.0',
    settings: {
      publicSettings: { server: 'files.example.net', user: 'backup' },
      protectedSettings: { password: 'not for the eyes of many' },
    },
  });
  const page = await signedIn('operator');
  await page.goto(`/vms/${vm.id}/extensions/share`);
  const change = page.getByRole('button', { name: /^Change / });
  await change.first().focus();
  await page.keyboard.press('Enter');
  const keep = page.getByRole('button', { name: /^Keep current value of / });
  await keep.focus();
  await page.keyboard.press('Enter');
  await expect(keep).toHaveCount(0);
  await expect(change.first()).toBeFocused();
});
