import { expectAccessibleInBothThemes } from './support/accessibility.ts';
import { countClicks } from './support/clicks.ts';
import { expect, join, newContext, password, refused, signIn, signOut, test } from './support/sign-in-portal.ts';

test('members and admins list and end sessions', { tag: '@long' }, async ({
  page,
  context,
  signedIn,
  people,
  unique,
}) => {
  const email = `sven.${unique}@example.org`;
  await join(page, await people.invite('viewer'), 'Sven', email);
  const other = await newContext(context);
  await signIn(other, email);
  await expect(other).not.toHaveURL(/sign-in/);
  await page.goto('/settings/account');
  await expect(page.getByText('this browser', { exact: true })).toBeVisible();
  await page.getByRole('button', { name: 'Sign out everywhere else' }).click();
  await expect(page.getByText('Signed out of 1 browser', { exact: true })).toBeVisible();
  await expect(other).toHaveURL(/\/sign-in/);
  await other.context().close();

  const admin = await signedIn('admin');
  await admin.goto('/settings/members');
  await admin.getByRole('button', { name: 'Actions for Sven' }).click();
  await admin.getByRole('menuitem', { name: 'Sessions' }).click();
  await expect(admin.getByRole('dialog').getByText(/^Chrome/)).toBeVisible();
  await expectAccessibleInBothThemes(admin);
  await admin.getByRole('dialog').getByRole('button', { name: 'Sign out of 1 browser' }).click();
  await expect(page).toHaveURL(/\/sign-in\?next=/);
});

test('a chosen language is kept in another browser after signing in', { tag: '@long' }, async ({
  page,
  context,
  people,
  unique,
}) => {
  const email = `lena.${unique}@example.org`;
  await join(page, await people.invite('viewer'), 'Lena', email);
  await page.goto('/settings/account');
  await page.getByRole('button', { name: /Language: English/ }).click();
  await page.getByRole('menuitemradio', { name: 'Deutsch' }).click();
  await expect(page.getByRole('heading', { name: 'Sprache und Darstellung' })).toBeVisible();
  await expect(
    page.getByText('Die Sprache wird in Ihrem Konto gespeichert, das Farbschema in diesem Browser.'),
  ).toBeVisible();
  await expectAccessibleInBothThemes(page);

  const other = await newContext(context);
  await signIn(other, email);
  await expect(other.locator('html')).toHaveAttribute('lang', 'de');
  await other.goto('/settings/account');
  const select = other.getByRole('combobox', { name: 'Sprache' });
  await expect(select).toHaveValue('de');
  await select.selectOption('en');
  await expect(other.getByRole('heading', { name: 'Language and appearance' })).toBeVisible();
  await other.context().close();

  await page.reload();
  await expect(page.locator('html')).toHaveAttribute('lang', 'en');
});

test('a member changes the password', { tag: '@long' }, async ({ page, people, console, unique }) => {
  console.allow(refused);
  const email = `tara.${unique}@example.org`;
  await join(page, await people.invite('viewer'), 'Tara', email);
  await page.goto('/settings/account');
  await page.getByRole('button', { name: 'Change password' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Current password', { exact: true }).fill('not the password');
  await dialog.getByLabel('New password', { exact: true }).fill('another long enough pass');
  await dialog.getByRole('button', { name: 'Change password' }).click();
  await expect(dialog.getByText('The current password is wrong.')).toBeVisible();
  await expectAccessibleInBothThemes(page);
  await dialog.getByLabel('Current password', { exact: true }).fill(password);
  await dialog.getByRole('button', { name: 'Change password' }).click();
  await expect(dialog).toBeHidden();
  await signOut(page, /^Tara\b/);
  await signIn(page, email, 'another long enough pass');
  await expect(page).not.toHaveURL(/sign-in/);
});

test('an admin invites a publisher with a namespace, and the publisher joins', { tag: '@long' }, async ({
  signedIn,
  browser,
  unique,
}) => {
  const page = await signedIn('admin');
  const clicks = await countClicks(page);
  const dialog = page.getByRole('dialog');
  await page.goto('/settings/members');
  await clicks.restart();
  await page.getByRole('button', { name: 'Invite by link' }).first().click();
  await dialog.getByLabel('For', { exact: true }).fill(`Paula ${unique}`);
  await dialog.getByLabel('Role').selectOption({ label: 'Publisher' });
  await dialog.getByRole('button', { name: 'New namespace…' }).click();
  await dialog.getByLabel('New namespace', { exact: true }).fill(`Paula.${unique}`);
  await dialog.getByRole('button', { name: 'Create link' }).click();
  const link = page.getByRole('dialog', { name: 'Send this link' });
  await expect(link).toBeVisible();
  await clicks.expectAtMost('publisher invited with namespace', 5);
  const address = (await link.getByText(/set-up\?token=/).textContent()) ?? '';
  await link.getByRole('button', { name: 'Done' }).click();
  const row = page.getByRole('row', { name: new RegExp(`Paula ${unique} Publisher Paula\\.${unique}`) });
  await expect(row).toBeVisible();
  await expectAccessibleInBothThemes(page);

  const guest = await (await browser.newContext()).newPage();
  await guest.goto(address);
  await expect(guest.getByText(`This link is for Paula ${unique}.`)).toBeVisible();
  await expect(guest.getByText(`You can publish in the namespace Paula.${unique}.`)).toBeVisible();
  await expect(guest.getByLabel('Name', { exact: true })).toHaveValue(`Paula ${unique}`);
  await expectAccessibleInBothThemes(guest);
  await guest.context().close();
});

test('an invitation for a publisher needs a namespace and a recipient', async ({ signedIn, unique, console }) => {
  console.allow(refused);
  const page = await signedIn('admin');
  const dialog = page.getByRole('dialog');
  await page.goto('/settings/members');
  await page.getByRole('button', { name: 'Invite by link' }).first().click();
  await dialog.getByLabel('Role').selectOption({ label: 'Publisher' });
  await dialog.getByRole('button', { name: 'Create link' }).click();
  await expect(dialog.getByText('Enter a name or an email address.')).toBeVisible();
  await expect(dialog.getByText('Choose at least one namespace.')).toBeVisible();
  await expectAccessibleInBothThemes(page);

  await dialog.getByLabel('For', { exact: true }).fill('Peter');
  await dialog.getByRole('button', { name: 'New namespace…' }).click();
  await expect(dialog.getByText('Choose at least one namespace.')).toHaveCount(0);
  await dialog.getByRole('button', { name: 'Create link' }).click();
  await expect(dialog.getByText('Choose at least one namespace.')).toBeVisible();
  await dialog.getByLabel('New namespace', { exact: true }).fill(`${unique} Lab`);
  await dialog.getByRole('button', { name: 'Create link' }).click();
  await expect(dialog.getByText('A namespace consists of one or more parts')).toBeVisible();
  await dialog.getByRole('button', { name: 'Remove new namespace' }).click();
  await expect(dialog.getByLabel('New namespace', { exact: true })).toHaveCount(0);
});
