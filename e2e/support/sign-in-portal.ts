import type { BrowserContext, Page } from '@playwright/test';
import { type OpenIdTestProvider, startOpenIdProvider } from '#server/testing/openid-provider.ts';
import { freePorts, type Portal, startPortal } from './portal.ts';
import { test as base, expect } from './test.ts';
import { openedWhole, untilWhole } from './whole-page.ts';

/** Console errors that these tests provoke: Chromium logs every rejected request. */
export const refused = /status of (401|403|409|422)/;
/** The password of every member who joins. */
export const password = 'a long enough pass';

interface PeopleFixtures {
  provider: OpenIdTestProvider;
}

/** A `test` whose portal has an OpenID provider and a host name. Passkeys require a host name. */
export const test = base.extend<object, PeopleFixtures & { portal: Portal }>({
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

/** Signs in with a password. */
export async function signIn(page: Page, email: string, secret = password): Promise<void> {
  await page.goto('/sign-in');
  await page.getByLabel('Email').fill(email);
  await page.getByLabel('Password', { exact: true }).fill(secret);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
}

/** Joins with a one-time link. */
export async function join(page: Page, link: string, name: string, email: string): Promise<void> {
  await page.goto(link);
  await page.getByLabel('Name').fill(name);
  await page.getByLabel('Email').fill(email);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Join', exact: true }).click();
  await expect(page).not.toHaveURL(/set-up/);
}

/** Adds a virtual authenticator with user verification, which replaces the browser's dialogs. */
export async function addDevice(page: Page) {
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
export function gate() {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { opened: promise, open: () => resolve() };
}

/** Signs out from the menu of the account. */
export async function signOut(page: Page, name: RegExp): Promise<void> {
  // A provider may have opened the page just now.
  await expect(page.getByRole('button', { name })).toBeVisible();
  await untilWhole(page);
  await page.getByRole('button', { name }).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await expect(page).toHaveURL('/sign-in');
  await untilWhole(page);
}

/** Opens a page in a new browser context, which shares no cookies with other pages. */
export const newContext = async (context: BrowserContext): Promise<Page> => {
  const browser = context.browser();
  if (browser === null) throw new Error('no browser');
  return openedWhole(await (await browser.newContext({ baseURL: `http://localhost:${port}` })).newPage());
};

export { expect };
