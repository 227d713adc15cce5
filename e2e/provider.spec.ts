import { expectAccessibleInBothThemes } from './support/accessibility.ts';
import { expect, join, refused, signOut, test } from './support/sign-in-portal.ts';

test('the provider signs in members, and people with an invitation', { tag: '@long' }, async ({
  page,
  people,
  provider,
  console,
}) => {
  console.allow(refused);
  provider.people.set('uma', { name: 'Uma', email: 'uma@example.org', email_verified: true });
  const atProvider = async (login: string) => {
    await page.getByLabel('Login').fill(login);
    await page.getByRole('button', { name: 'Continue' }).click();
  };
  await page.goto('/sign-in?next=%2Fhandlers');
  await expectAccessibleInBothThemes(page);
  await page.getByRole('button', { name: 'Sign in with Example' }).click();
  await atProvider('uma');
  await expect(
    page.getByRole('alert').filter({ hasText: 'is not connected to a member of this portal' }),
  ).toBeVisible();
  await expectAccessibleInBothThemes(page);

  await page.goto(await people.invite('operator'));
  await page.getByRole('button', { name: 'Join with Example' }).click();
  await expect(page.getByRole('button', { name: /^Uma\b.*account/i })).toBeVisible();
  await page.goto('/settings/account');
  await expect(page.getByText('None. You sign in through your provider.')).toBeVisible();

  await signOut(page, /^Uma\b/);
  await page.goto('/sign-in?next=%2Fhandlers');
  await page.getByRole('button', { name: 'Sign in with Example' }).click();
  await expect(page).toHaveURL('/handlers');
});

test('a member connects an account at the provider', { tag: '@long' }, async ({
  page,
  people,
  provider,
  console,
  unique,
}) => {
  console.allow(refused);
  const email = `vera.${unique}@example.org`;
  provider.people.set(`impostor ${unique}`, { name: 'Impostor', email, email_verified: true });
  provider.people.set(`vera ${unique}`, { email: `vera.${unique}@work.example`, email_verified: true });
  await join(page, await people.invite('viewer'), 'Vera', email);
  await page.goto('/settings/account');
  await expect(page.getByText('No Example account is connected.')).toBeVisible();
  await page.getByRole('button', { name: 'Connect Example' }).click();
  await page.getByLabel('Login').fill(`vera ${unique}`);
  await page.getByRole('button', { name: 'Continue' }).click();
  await expect(page).toHaveURL('/settings/account');
  await expect(page.getByText('Your Example account is connected.')).toBeVisible();
  await expectAccessibleInBothThemes(page);
  await signOut(page, /^Vera\b/);

  await page.getByRole('button', { name: 'Sign in with Example' }).click();
  await expect(page).not.toHaveURL(/sign-in/);
  await signOut(page, /^Vera\b/);

  // The account at the provider belongs to another person but has the member's email address.
  await page.context().clearCookies({ domain: 'localhost', name: /session|interaction/ });
  await page.goto(await people.invite('viewer'));
  await page.getByRole('button', { name: 'Join with Example' }).click();
  await page.getByLabel('Login').fill(`impostor ${unique}`);
  await page.getByRole('button', { name: 'Continue' }).click();
  await expect(page.getByRole('alert').filter({ hasText: 'already has your email address' })).toBeVisible();
  await expectAccessibleInBothThemes(page);
});
