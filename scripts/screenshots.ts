import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { type Browser, chromium, type Page, request } from '@playwright/test';
import { chromiumLaunch } from '../e2e/support/browser.ts';

const usage = `Pictures of a running portal (npm start -- --demo).

  npm run screenshots -- [--url http://localhost:3000] --email … --password …
      the picture of the README, docs/images/vm.png: the demo's VM whose mount failed
  npm run screenshots -- … --out <folder>
      every page, light and dark, 1440 and 390 wide, in every language

Flags can be given as ANNEX_URL, ANNEX_BOOTSTRAP_EMAIL and ANNEX_BOOTSTRAP_PASSWORD.`;

const { values: flags } = parseArgs({
  options: {
    url: { type: 'string', default: process.env.ANNEX_URL ?? 'http://localhost:3000' },
    email: { type: 'string', default: process.env.ANNEX_BOOTSTRAP_EMAIL },
    password: { type: 'string', default: process.env.ANNEX_BOOTSTRAP_PASSWORD },
    out: { type: 'string' },
    languages: { type: 'string', default: 'en,de' },
    only: { type: 'string' },
  },
});

/** A page by name: its path, or how to find one from another page. */
interface Subject {
  name: string;
  path: string;
  signedIn: boolean;
  /** The first link on `path` that matches this is the page itself. */
  follow?: RegExp;
}

const subjects: Subject[] = [
  { name: 'sign-in', path: '/sign-in', signedIn: false },
  { name: 'set-up', path: '/set-up?token=expired', signedIn: false },
  { name: 'overview', path: '/', signedIn: true },
  { name: 'vms', path: '/vms', signedIn: true },
  { name: 'vm', path: '/vms', signedIn: true, follow: /^\/vms\/[0-9a-f-]{36}$/ },
  { name: 'handlers', path: '/handlers', signedIn: true },
  { name: 'handler', path: '/handlers', signedIn: true, follow: /^\/handlers\/[^/]+$/ },
  { name: 'publish', path: '/publish', signedIn: true },
  { name: 'activity', path: '/activity', signedIn: true },
  { name: 'settings', path: '/settings', signedIn: true },
  { name: 'account', path: '/settings/account', signedIn: true },
  { name: 'members', path: '/settings/members', signedIn: true },
  { name: 'tokens', path: '/settings/tokens', signedIn: true },
  { name: 'sign-in-settings', path: '/settings/sign-in', signedIn: true },
  { name: 'not-found', path: '/nowhere', signedIn: true },
];

const widths = { wide: { width: 1440, height: 900 }, narrow: { width: 390, height: 844 } };

async function signIn(): Promise<Awaited<ReturnType<Awaited<ReturnType<typeof request.newContext>>['storageState']>>> {
  const client = await request.newContext({ baseURL: flags.url, extraHTTPHeaders: { origin: flags.url } });
  const answer = await client.post('/api/auth/sign-in/email', {
    data: { email: flags.email, password: flags.password },
  });
  if (!answer.ok()) throw new Error(`Sign-in answered ${answer.status()}: ${await answer.text()}`);
  return client.storageState();
}

/** Opens a subject and waits until it has what it shows. */
async function open(page: Page, { name, path: address, follow, signedIn }: Subject): Promise<void> {
  await visit(page, address, signedIn);
  if (follow) {
    const links = page.locator('main a[href]');
    await links.first().waitFor();
    const targets = await links.evaluateAll((anchors) => anchors.map((anchor) => anchor.getAttribute('href') ?? ''));
    const target = targets.find((href) => follow.test(href));
    if (target === undefined) throw new Error(`${name}: nothing to follow on ${address}`);
    await visit(page, target, signedIn);
  }
}

async function visit(page: Page, address: string, signedIn: boolean): Promise<void> {
  // Pages say whether they are live; one that is not is still worth its picture.
  const live = page.waitForResponse(/\/api\/trpc\/live\./, { timeout: 10_000 }).catch(() => null);
  await page.goto(address);
  await page.locator('h1').first().waitFor();
  await page.locator('[aria-busy="true"]').first().waitFor({ state: 'detached' });
  await page.evaluate(() => document.fonts.ready);
  if (signedIn) await live;
}

async function take(browser: Browser, folder: string): Promise<void> {
  const storageState = await signIn();
  const chosen = subjects.filter((subject) => flags.only === undefined || flags.only.split(',').includes(subject.name));
  for (const language of flags.languages.split(',')) {
    for (const colorScheme of ['light', 'dark'] as const) {
      for (const [width, viewport] of Object.entries(widths)) {
        const look = { baseURL: flags.url, locale: language, colorScheme, viewport, reducedMotion: 'reduce' as const };
        const people = {
          in: await browser.newContext({ ...look, storageState }),
          out: await browser.newContext(look),
        };
        for (const subject of chosen) {
          const page = await people[subject.signedIn ? 'in' : 'out'].newPage();
          const file = path.join(folder, `${subject.name}-${language}-${colorScheme}-${width}.png`);
          try {
            await open(page, subject);
          } catch (error) {
            console.log(`${subject.name}: ${error instanceof Error ? error.message.split('\n')[0] : error}`);
            process.exitCode = 1;
          }
          await page.screenshot({ path: file, fullPage: true });
          console.log(file);
          await page.close();
        }
        await Promise.all([people.in.close(), people.out.close()]);
      }
    }
  }
}

/** The picture of the README: the demo's VM whose mount failed, light, at twice the pixels. */
async function takePicture(browser: Browser, file: string): Promise<void> {
  const context = await browser.newContext({
    baseURL: flags.url,
    locale: 'en',
    colorScheme: 'light',
    viewport: { width: 1280, height: 800 },
    deviceScaleFactor: 2,
    reducedMotion: 'reduce',
    storageState: await signIn(),
  });
  const page = await context.newPage();
  await visit(page, '/vms', true);
  const href = await page.getByRole('link', { name: 'files-1' }).getAttribute('href');
  await visit(page, href ?? '/vms', true);
  await page.screenshot({ path: file });
  console.log(file);
}

if (!flags.email || !flags.password) {
  console.error(usage);
  process.exitCode = 2;
} else {
  const browser = await chromium.launch(await chromiumLaunch());
  try {
    const folder = path.resolve(flags.out ?? path.join(import.meta.dirname, '../docs/images'));
    mkdirSync(folder, { recursive: true });
    await (flags.out === undefined ? takePicture(browser, path.join(folder, 'vm.png')) : take(browser, folder));
  } finally {
    await browser.close();
  }
}
