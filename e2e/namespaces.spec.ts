import type { Page } from '@playwright/test';
import { expectAccessibleInBothThemes } from './support/accessibility.ts';
import { expect, test } from './support/test.ts';

const dialog = (page: Page) => page.getByRole('dialog');

test('namespaces of a token and a member are chosen from a list, or created, with the keyboard', {
  tag: '@long',
}, async ({ api, people, signedIn, unique }) => {
  // With more namespaces than the list shows, a search field finds the other namespaces.
  for (let n = 1; n <= 9; n += 1) await api.ensurePublisher(`Aaa${n}.${unique}`);
  await api.ensurePublisher(`Known.${unique}`);
  await people.session('publisher', [`Known.${unique}`]);
  const page = await signedIn('admin');

  await test.step('a token gets an existing namespace and a new one', async () => {
    await page.goto('/settings/tokens');
    await page.getByRole('button', { name: 'Create token' }).click();
    await dialog(page).getByLabel('Name', { exact: true }).fill(`ci ${unique}`);
    await dialog(page).getByLabel('Search namespaces').fill(`Known.${unique}`);
    const known = dialog(page).getByRole('checkbox', { name: `Known.${unique}` });
    await known.focus();
    await page.keyboard.press('Space');
    await expect(known).toBeChecked();
    const add = dialog(page).getByRole('button', { name: 'New namespace…' });
    await add.focus();
    await page.keyboard.press('Enter');
    const added = dialog(page).getByLabel('New namespace', { exact: true });
    await expect(added).toBeFocused();
    await dialog(page).getByRole('button', { name: 'Remove new namespace' }).focus();
    await page.keyboard.press('Enter');
    await expect(add).toBeFocused();
    await page.keyboard.press('Enter');
    await added.fill(`Token.${unique}`);
    await expectAccessibleInBothThemes(page);
    await page.keyboard.press('Enter');
    await expect(page.getByRole('dialog', { name: `Copy the token ci ${unique}` })).toBeVisible();
    await dialog(page).getByRole('button', { name: 'Done' }).click();
    const row = page.getByRole('row', { name: new RegExp(`ci ${unique}`) });
    await expect(row).toContainText(`Known.${unique}`);
    await expect(row).toContainText(`Token.${unique}`);
  });

  await test.step('a member gets a new namespace and keeps the existing ones', async () => {
    await page.goto('/settings/members');
    const row = page.getByRole('row').filter({ hasText: `Known.${unique}` });
    await row.getByRole('button', { name: /^Actions for/ }).click();
    await page.getByRole('menuitem', { name: /^Change role/ }).click();
    await expect(dialog(page).getByRole('checkbox', { name: `Known.${unique}` })).toBeChecked();
    await dialog(page).getByRole('button', { name: 'New namespace…' }).click();
    await dialog(page).getByLabel('New namespace', { exact: true }).fill(`Member.${unique}`);
    await page.keyboard.press('Enter');
    await expect(dialog(page)).toHaveCount(0);
    await expect(page.getByRole('row').filter({ hasText: `Known.${unique}` })).toContainText(`Member.${unique}`);
  });
});
