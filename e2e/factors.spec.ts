import { Secret, TOTP } from 'otpauth';
import { expectAccessibleInBothThemes } from './support/accessibility.ts';
import { withDatabase } from './support/database.ts';
import {
  addDevice,
  expect,
  gate,
  join,
  newContext,
  password,
  refused,
  signIn,
  signOut,
  test,
} from './support/sign-in-portal.ts';

test('an authenticator app and recovery codes protect a sign-in', { tag: '@long' }, async ({
  page,
  people,
  console,
  unique,
}) => {
  console.allow(refused);
  const email = `frida.${unique}@example.org`;
  await join(page, await people.invite('viewer'), 'Frida', email);
  await page.goto('/settings/account');
  await expect(page.getByText('None yet. A password alone is enough to sign in.')).toBeVisible();
  await expectAccessibleInBothThemes(page);

  await page.getByRole('button', { name: 'Set up an app' }).click();
  const dialog = page.getByRole('dialog');
  await expect(dialog.getByRole('img', { name: /QR code/ })).toBeVisible();
  const text = (await dialog.locator('code').textContent()) ?? '';
  const app = new TOTP({ secret: Secret.fromBase32(text.replaceAll(' ', '')) });
  // A code works only once. The portal already accepts the code of the next half minute, so each step can use a
  // different code.
  const codeIn = (steps: number) => app.generate({ timestamp: Date.now() + steps * 30_000 });
  await expectAccessibleInBothThemes(page);
  await dialog.getByLabel('Code from the app').fill('000000');
  await dialog.getByRole('button', { name: 'Use this app' }).click();
  await expect(dialog.getByText('This code is not valid.')).toBeVisible();
  await dialog.getByLabel('Code from the app').fill(codeIn(0));
  await dialog.getByRole('button', { name: 'Use this app' }).click();
  await expect(dialog.getByRole('heading', { name: 'Save your recovery codes' })).toBeVisible();
  const [code = ''] = await dialog.getByRole('listitem').allTextContents();
  await expectAccessibleInBothThemes(page);
  await dialog.getByLabel(/I have saved the codes/).click();
  await dialog.getByRole('button', { name: 'Done' }).click();
  await expect(page.getByText('Required when you sign in with a password.')).toBeVisible();

  await signOut(page, /^Frida\b/);
  await signIn(page, email);
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Second factor');
  await expectAccessibleInBothThemes(page);
  await page.getByLabel('Code from your authenticator app').fill('000000');
  await page.getByRole('button', { name: 'Continue' }).click();
  await expect(page.getByRole('alert').filter({ hasText: 'The second factor was not accepted.' })).toBeVisible();
  await page.getByLabel('Code from your authenticator app').fill(codeIn(1));
  await page.getByRole('button', { name: 'Continue' }).click();
  await expect(page).not.toHaveURL(/sign-in/);

  await signOut(page, /^Frida\b/);
  await signIn(page, email);
  await page.getByRole('button', { name: 'Use a recovery code' }).click();
  await page.getByLabel('Recovery code').fill(code.toUpperCase());
  await page.getByRole('button', { name: 'Continue' }).click();
  await expect(page).not.toHaveURL(/sign-in/);
  await page.goto('/settings/account');
  await expect(page.getByText('9 left')).toBeVisible();
});

test('a passkey is added, signs in alone and after the password, is renamed and removed', { tag: '@long' }, async ({
  page,
  people,
  console,
  unique,
}) => {
  console.allow(refused);
  const email = `pia.${unique}@example.org`;
  await join(page, await people.invite('operator'), 'Pia', email);
  await addDevice(page);
  await page.goto('/settings/account');
  await page.getByRole('button', { name: 'Add a passkey' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Passkey name').fill('Work laptop');
  await dialog.getByRole('button', { name: 'Create passkey' }).click();
  await dialog.getByLabel(/I have saved the codes/).click();
  await dialog.getByRole('button', { name: 'Done' }).click();
  await expect(page.getByText('Work laptop', { exact: true })).toBeVisible();
  await expectAccessibleInBothThemes(page);

  // The field's suggestion is accepted while the button's request is in progress. Only one session may result.
  const [pressed, suggested, answered] = [gate(), gate(), gate()];
  let asked = 0;
  await page.route('**/api/auth/sign-in/passkey/options', async (route) => {
    asked += 1;
    if (asked === 2) pressed.open();
    await (asked === 1 ? pressed : suggested).opened;
    await route.continue();
  });
  await page.route('**/api/auth/sign-in/passkey', async (route) => {
    const response = await route.fetch();
    suggested.open();
    await answered.opened;
    await route.fulfill({ response });
  });
  await signOut(page, /^Pia\b/);
  await page.evaluate(() => {
    const get = navigator.credentials.get.bind(navigator.credentials);
    navigator.credentials.get = async (options) => {
      const credential = await get(options);
      if (options?.mediation !== 'conditional') document.documentElement.dataset.answered = 'again';
      return credential;
    };
  });
  await page.getByRole('button', { name: 'Use a passkey instead' }).click();
  await expect(page.locator('html')).toHaveAttribute('data-answered', 'again');
  answered.open();
  await expect(page).not.toHaveURL(/sign-in/);
  await page.goto('/settings/account');
  await expect(page.getByText('with a passkey')).toBeVisible();

  await page.getByRole('button', { name: 'Rename Work laptop' }).click();
  await page.getByRole('dialog').getByLabel('Passkey name').fill('Old laptop');
  await page.getByRole('dialog').getByRole('button', { name: 'Rename' }).click();
  await page.getByRole('button', { name: 'Remove Old laptop' }).click();
  await expect(page.getByRole('alertdialog')).toContainText('Without it, a password alone is enough to sign in');
  await page.getByRole('alertdialog').getByRole('button', { name: 'Remove Old laptop' }).click();
  await expect(page.getByText('None yet. A password alone is enough to sign in.')).toBeVisible();
});

test('an admin requires a second factor of everyone, and resets a lost factor', { tag: '@long' }, async ({
  page,
  context,
  signedIn,
  people,
  console,
  unique,
}) => {
  console.allow(refused);
  const email = `rosa.${unique}@example.org`;
  await join(page, await people.invite('viewer'), 'Rosa', email);
  const admin = await signedIn('admin');
  await admin.goto('/settings/account');
  await admin.getByRole('button', { name: 'Set up an app' }).click();
  const ownSecret = (await admin.getByRole('dialog').locator('code').textContent()) ?? '';
  const own = new TOTP({ secret: Secret.fromBase32(ownSecret.replaceAll(' ', '')) });
  await admin.getByLabel('Code from the app').fill(own.generate());
  await admin.getByRole('button', { name: 'Use this app' }).click();
  await admin.getByLabel(/I have saved the codes/).click();
  await admin.getByRole('button', { name: 'Done' }).click();
  await admin.goto('/settings/sign-in');
  await expectAccessibleInBothThemes(admin);
  await admin.getByRole('button', { name: 'Require' }).click();
  await admin.getByRole('alertdialog').getByRole('button', { name: 'Require' }).click();
  await expect(admin.getByText('Required.')).toBeVisible();

  // The page that is already open redirects immediately, and only the setup of the second factor is available.
  await expect(page).toHaveURL(/\/second-factor/);
  await page.goto('/vms');
  await expect(page).toHaveURL(/\/second-factor\?next=%2Fvms/);
  await expectAccessibleInBothThemes(page);
  await page.getByRole('button', { name: /Authenticator app/ }).click();
  const text = (await page.locator('code').textContent()) ?? '';
  const app = new TOTP({ secret: Secret.fromBase32(text.replaceAll(' ', '')) });
  await page.getByLabel('Code from the app').fill(app.generate());
  await page.getByRole('button', { name: 'Use this app' }).click();
  await page.getByLabel(/I have saved the codes/).click();
  await page.getByRole('button', { name: 'Done' }).click();
  await expect(page).toHaveURL('/vms');

  await admin.getByRole('button', { name: 'Make optional' }).click();
  await admin.getByRole('alertdialog').getByRole('button', { name: 'Make optional' }).click();
  await admin.goto('/settings/members');
  await expectAccessibleInBothThemes(admin);
  await admin.getByRole('button', { name: 'Actions for Rosa' }).click();
  await admin.getByRole('menuitem', { name: 'Reset second factor' }).click();
  await admin.getByRole('alertdialog').getByRole('button', { name: 'Reset second factor' }).click();
  await expect(page).toHaveURL(/\/sign-in/);
  const fresh = await newContext(context);
  await signIn(fresh, email);
  await expect(fresh).not.toHaveURL(/sign-in/);
  await fresh.context().close();
});

test('an admin confirms their identity before creating a token or a link', { tag: '@long' }, async ({
  page,
  portal,
  people,
  console,
  unique,
}) => {
  console.allow(refused);
  const email = `wilma.${unique}@example.org`;
  await join(page, await people.invite('admin'), 'Wilma', email);
  const signedInLongAgo = () =>
    withDatabase(portal, (client) =>
      client.query(
        `update sessions set confirmed_at = now() - interval '11 minutes' from users where users.id = user_id and email = $1`,
        [email],
      ),
    );
  const confirm = async () => {
    const dialog = page.getByRole('dialog', { name: 'Confirm your identity' });
    await expect(dialog.getByText('your last sign-in was more than ten minutes ago')).toBeVisible();
    await expectAccessibleInBothThemes(page);
    await dialog.getByLabel('Password', { exact: true }).fill(password);
    await dialog.getByRole('button', { name: 'Continue' }).click();
  };

  await page.goto('/settings/tokens');
  await signedInLongAgo();
  await page.getByRole('button', { name: 'Create token' }).click();
  await page.getByRole('dialog').getByLabel('Name', { exact: true }).fill(`ci ${unique}`);
  await page.getByRole('dialog').getByRole('button', { name: 'Create token' }).click();
  await confirm();
  await expect(page.getByRole('dialog', { name: `Copy the token ci ${unique}` })).toBeVisible();

  await page.goto('/settings/members');
  await signedInLongAgo();
  await page.getByRole('button', { name: 'Invite by link' }).first().click();
  await page.getByRole('dialog').getByLabel('For', { exact: true }).fill('Olga');
  await page.getByRole('dialog').getByRole('button', { name: 'Create link' }).click();
  await confirm();
  await expect(page.getByRole('dialog', { name: 'Send this link' })).toBeVisible();
  await page.getByRole('dialog').getByRole('button', { name: 'Done' }).click();

  await signedInLongAgo();
  await page
    .getByRole('button', { name: /^Create new link/ })
    .first()
    .click();
  await confirm();
  await expect(page.getByRole('dialog', { name: 'Send this link' })).toBeVisible();
});
