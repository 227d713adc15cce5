import type { BrowserContext, Page } from '@playwright/test';
import { Secret, TOTP } from 'otpauth';
import { type OpenIdTestProvider, startOpenIdProvider } from '#server/testing/openid-provider.ts';
import { expectAccessibleInBothThemes } from './support/accessibility.ts';
import { countClicks } from './support/clicks.ts';
import { withDatabase } from './support/database.ts';
import { freePorts, type Portal, startPortal } from './support/portal.ts';
import { test as base, expect } from './support/test.ts';
import { openedWhole } from './support/whole-page.ts';

/** Chromium logs every rejected request. These journeys provoke rejections. */
const refused = /status of (401|403|409|422)/;
const password = 'a long enough pass';

interface PeopleFixtures {
  provider: OpenIdTestProvider;
}

/** A portal with a host name, because passkeys need one, and with an OpenID provider. */
const test = base.extend<object, PeopleFixtures & { portal: Portal }>({
  provider: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the dependencies from the pattern
    async ({}, use) => {
      const provider = await startOpenIdProvider(`http://localhost:${port}/api/auth/oidc/callback`);
      await use(provider);
      await provider.close();
    },
    { scope: 'worker' },
  ],
  portal: [
    async ({ provider }, use) => {
      const portal = await startPortal({
        PORT: String(port),
        ANNEX_URL: `http://localhost:${port}`,
        ANNEX_OIDC_ISSUER: provider.issuer,
        ANNEX_OIDC_CLIENT_ID: provider.clientId,
        ANNEX_OIDC_CLIENT_SECRET: provider.clientSecret,
        ANNEX_OIDC_NAME: 'Example',
      });
      await use(portal);
      await portal.remove();
    },
    { scope: 'worker', timeout: 300_000 },
  ],
});
const [port = 0] = await freePorts(1);

async function signIn(page: Page, email: string, secret = password): Promise<void> {
  await page.goto('/sign-in');
  await page.getByLabel('Email').fill(email);
  await page.getByLabel('Password', { exact: true }).fill(secret);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
}

async function join(page: Page, link: string, name: string, email: string): Promise<void> {
  await page.goto(link);
  await page.getByLabel('Name').fill(name);
  await page.getByLabel('Email').fill(email);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Join', exact: true }).click();
  await expect(page).not.toHaveURL(/set-up/);
}

/** Adds a virtual authenticator with user verification, which replaces the browser's dialogs. */
async function addDevice(page: Page) {
  const client = await page.context().newCDPSession(page);
  await client.send('WebAuthn.enable');
  await client.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
}

/**
 * Returns a promise and a function that resolves it: requests that wait for `opened` continue once `open` is called.
 */
function gate() {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { opened: promise, open: () => resolve() };
}

async function signOut(page: Page, name: RegExp): Promise<void> {
  await page.getByRole('button', { name }).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await expect(page).toHaveURL('/sign-in');
}

const newContext = async (context: BrowserContext): Promise<Page> => {
  const browser = context.browser();
  if (browser === null) throw new Error('no browser');
  return openedWhole(await (await browser.newContext({ baseURL: `http://localhost:${port}` })).newPage());
};

test('an authenticator app and recovery codes protect a sign-in', async ({ page, people, console, unique }) => {
  console.allow(refused);
  const email = `frida.${unique}@example.org`;
  await join(page, await people.invite('viewer'), 'Frida', email);
  await page.goto('/settings/account');
  await expect(page.getByText('None yet: a password alone is enough to sign in.')).toBeVisible();
  await expectAccessibleInBothThemes(page);

  await page.getByRole('button', { name: 'Set up an app' }).click();
  const dialog = page.getByRole('dialog');
  await expect(dialog.getByRole('img', { name: /QR code/ })).toBeVisible();
  const text = (await dialog.locator('code').textContent()) ?? '';
  const app = new TOTP({ secret: Secret.fromBase32(text.replaceAll(' ', '')) });
  // A code works only once. The portal already accepts the code of the next half minute, so each step can use a
  // different one.
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
  await expect(page.getByText('Required after a password.')).toBeVisible();

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

test('a passkey is added, signs in alone and after the password, is renamed and removed', async ({
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
  await expect(page.getByText('None yet: a password alone is enough to sign in.')).toBeVisible();
});

test('an admin requires a second factor of everyone, and resets one that was lost', async ({
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

test('members and admins list and end sessions', async ({ page, context, signedIn, people, unique }) => {
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

test('a chosen language is kept in another browser after signing in', async ({ page, context, people, unique }) => {
  const email = `lena.${unique}@example.org`;
  await join(page, await people.invite('viewer'), 'Lena', email);
  await page.goto('/settings/account');
  await page.getByRole('button', { name: /Language: English/ }).click();
  await page.getByRole('menuitemradio', { name: 'Deutsch' }).click();
  await expect(page.getByRole('heading', { name: 'Sprache und Darstellung' })).toBeVisible();
  await expect(page.getByText('Die Sprache gilt für Ihr Konto, das Farbschema für diesen Browser.')).toBeVisible();
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

test('a member changes the password', async ({ page, people, console, unique }) => {
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

test('the provider signs in members, and people with an invitation', async ({ page, people, provider, console }) => {
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
  await expect(page.getByText('None: you sign in through your provider.')).toBeVisible();

  await signOut(page, /^Uma\b/);
  await page.goto('/sign-in?next=%2Fhandlers');
  await page.getByRole('button', { name: 'Sign in with Example' }).click();
  await expect(page).toHaveURL('/handlers');
});

test('a member connects an account at the provider', async ({ page, people, provider, console, unique }) => {
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

test('an admin confirms their identity before creating a token or a link', async ({
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

test('an admin invites a publisher with a namespace, and the publisher joins', async ({
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
  await dialog.getByLabel('New namespace', { exact: true }).fill(`${unique} Lab`);
  await dialog.getByRole('button', { name: 'Create link' }).click();
  await expect(dialog.getByText('A namespace consists of letters, digits')).toBeVisible();
  await dialog.getByRole('button', { name: 'Remove new namespace' }).click();
  await expect(dialog.getByLabel('New namespace', { exact: true })).toHaveCount(0);
});
