import { expectAccessibleInBothThemes } from './support/accessibility.ts';
import { expect, test } from './support/test.ts';

/** Chromium logs every rejected request. These journeys provoke rejections. */
const refused = /status of (401|422)/;

test('a member signs in, lands on the requested page, and signs out', async ({ page, portal, console }) => {
  console.allow(refused);
  await page.goto('/settings/members');
  await expect(page).toHaveURL('/sign-in?next=%2Fsettings%2Fmembers');
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Sign in');
  await expectAccessibleInBothThemes(page);

  await page.getByLabel('Email').fill(portal.admin.email);
  await page.getByLabel('Password', { exact: true }).fill('not the password');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await expect(page.getByRole('alert').filter({ hasText: 'The email address or password is wrong.' })).toBeVisible();

  await page.getByLabel('Password', { exact: true }).fill(portal.admin.password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await expect(page).toHaveURL('/settings/members');

  // Once this is visible, the page is hydrated and reacts to clicks.
  await expect(page.getByText('Live', { exact: true })).toBeVisible();
  await page.getByRole('button', { name: /^ada\b.*account/i }).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await expect(page).toHaveURL('/sign-in');
  await page.goto('/settings/members');
  await expect(page).toHaveURL('/sign-in?next=%2Fsettings%2Fmembers');
});

test('an invitation link lets one person join, only once', async ({ page, people, console, unique }) => {
  console.allow(refused);
  const link = await people.invite('operator');
  await page.goto(link);
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Join Annex');
  await expect(page.getByText('You will join with the role Operator.')).toBeVisible();
  await expectAccessibleInBothThemes(page);

  await page.getByLabel('Name').fill('Grace');
  await page.getByLabel('Email').fill(`grace.${unique}@example.org`);
  await page.getByLabel('Password', { exact: true }).fill('too short');
  await page.getByRole('button', { name: 'Join' }).click();
  await expect(page.getByText('Use at least 12 characters. Your password has 9.')).toBeVisible();
  await page.getByLabel('Password', { exact: true }).fill('long enough to count');
  await page.getByRole('button', { name: 'Join' }).click();
  await expect(page).toHaveURL('/');

  await page.goto(link);
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('This link is not valid');
  await expectAccessibleInBothThemes(page);
});

test.describe('in German', () => {
  test.use({ locale: 'de-AT' });

  test('the sign-in page is in the reader’s language', async ({ page, portal, console }) => {
    console.allow(refused);
    await page.goto('/sign-in');
    await expect(page.locator('html')).toHaveAttribute('lang', 'de');
    await page.getByLabel('E-Mail').fill(portal.admin.email);
    await page.getByLabel('Passwort', { exact: true }).fill('nicht das Passwort');
    await page.getByRole('button', { name: 'Anmelden' }).click();
    await expect(page.getByRole('alert').filter({ hasText: 'Passwort' })).toBeVisible();
  });
});

test('anonymous readers see the sign-in instead of any page', async ({ page }) => {
  for (const path of ['/vms', '/handlers', '/publish', '/settings/members']) {
    const answer = await page.request.get(path, { maxRedirects: 0 });
    expect([302, 303, 307, 308], path).toContain(answer.status());
  }
});
