import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { type Browser, type BrowserContext, chromium, type Page } from '@playwright/test';
import { chromiumLaunch } from '../e2e/support/browser.ts';
import { readFlags } from './read-flags.ts';
import { Person, type StorageState } from './screenshots/portal.ts';
import { speechOf } from './screenshots/speech.ts';
import { type ScreenshotStage, setStage } from './screenshots/stage.ts';
import type { Subject } from './screenshots/subjects/subject.ts';
import { subjectsOf } from './screenshots/subjects.ts';

const usage = `Takes screenshots of a running portal (npm start -- --demo).

  npm run screenshots -- [--url http://localhost:3000] --email … --password …
      the screenshot in the README, docs/images/vm.png: the demo's VM whose mount failed
  npm run screenshots -- … --out <folder> [--languages en,de,en-XA] [--themes light,dark] [--widths 1440,390] [--only vm,editor]
      every page and its states. Creates VMs, a handler and members, so use a portal that you can delete afterwards.
      --only selects subjects by the beginning of their names; en-XA is English, 40% longer; ar-XB is English from right to left

ANNEX_URL, ANNEX_BOOTSTRAP_EMAIL and ANNEX_BOOTSTRAP_PASSWORD can replace the flags.`;

const flags = readFlags(usage, {
  options: {
    url: { type: 'string', default: process.env.ANNEX_URL ?? 'http://localhost:3000' },
    email: { type: 'string', default: process.env.ANNEX_BOOTSTRAP_EMAIL ?? '' },
    password: { type: 'string', default: process.env.ANNEX_BOOTSTRAP_PASSWORD ?? '' },
    out: { type: 'string' },
    languages: { type: 'string', default: 'en,de,en-XA' },
    themes: { type: 'string', default: 'light,dark' },
    widths: { type: 'string', default: '1440,390' },
    only: { type: 'string', default: '' },
  },
});

/** Maximum height in pixels. Screenshots of taller pages are cropped. */
const tallest = 4_000;

interface Look {
  language: string;
  theme: 'light' | 'dark';
  width: number;
}

/** Returns every combination of theme, width and language that the flags select. */
function looks(): Look[] {
  const themes = flags.themes.split(',').map((theme) => (theme === 'dark' ? 'dark' : 'light'));
  const widths = flags.widths.split(',').map(Number);
  return flags.languages
    .split(',')
    .flatMap((language) => themes.flatMap((theme) => widths.map((width) => ({ language, theme, width }))));
}

const heightOf = (width: number): number => (width < 720 ? 844 : 900);

async function contextOf(browser: Browser, { language, theme, width }: Look, storageState?: StorageState) {
  const context = await browser.newContext({
    baseURL: flags.url,
    colorScheme: theme,
    viewport: { width, height: heightOf(width) },
    reducedMotion: 'reduce',
    ...(storageState && { storageState }),
  });
  await context.addCookies([{ name: 'annex-language', value: language, url: flags.url }]);
  return context;
}

/**
 * Waits until the page has loaded and stopped changing. `live` is the text that the page shows while its live
 * connection is open.
 */
async function settle(page: Page, live?: string): Promise<void> {
  await page.locator('h1').first().waitFor();
  await page.locator('[aria-busy="true"]').first().waitFor({ state: 'detached' });
  if (live !== undefined) await page.getByText(live, { exact: true }).first().waitFor();
  await page.evaluate(async () => {
    await document.fonts.ready;
    const quiet = 400;
    const end = performance.now() + 5_000;
    let last = performance.now();
    const watch = new MutationObserver(() => {
      last = performance.now();
    });
    watch.observe(document.body, { childList: true, subtree: true });
    while (performance.now() - last < quiet && performance.now() < end) {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    watch.disconnect();
  });
}

/**
 * Captures the page. Unless the subject `floats`, first resizes the window to the height of the page, so that sticky
 * elements appear only once.
 */
async function capture(page: Page, { floats }: Subject, file: string): Promise<void> {
  const size = page.viewportSize();
  if (floats !== true && size !== null) {
    const height = await page.evaluate(() => document.documentElement.scrollHeight);
    await page.setViewportSize({ width: size.width, height: Math.min(Math.max(height, size.height), tallest) });
  }
  // A page that keeps loading is captured as it is.
  await settle(page).catch((error: unknown) => {
    console.log(`${file} does not settle: ${error}`);
    process.exitCode = 1;
  });
  await page.screenshot({ path: file });
  console.log(file);
}

async function takeOne(
  context: BrowserContext,
  stage: ScreenshotStage,
  subject: Subject,
  look: Look,
  file: string,
): Promise<void> {
  const say = speechOf(look.language);
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  try {
    await page.goto(subject.address);
    await settle(page, subject.who === 'guest' ? undefined : say('navigation:live'));
    await subject.act?.({ page, say, stage });
    await settle(page);
  } catch (error) {
    console.log(`${subject.name}, ${look.language}: ${error instanceof Error ? error.message.split('\n')[0] : error}`);
    process.exitCode = 1;
  }
  await capture(page, subject, file);
  await page.close();
}

async function takeAll(browser: Browser, stage: ScreenshotStage, folder: string): Promise<void> {
  const beginnings = flags.only.split(',');
  const chosen = subjectsOf(stage).filter(({ name }) => beginnings.some((beginning) => name.startsWith(beginning)));
  for (const look of looks()) {
    const contexts = {
      guest: await contextOf(browser, look),
      admin: await contextOf(browser, look, stage.cookies.admin),
      viewer: await contextOf(browser, look, stage.cookies.viewer),
      guarded: await contextOf(browser, look, stage.cookies.guarded),
    };
    for (const subject of chosen) {
      if (subject.isWide === true && look.width < 720) continue;
      const name = `${subject.name}-${look.language}-${look.theme}-${look.width}.png`;
      await takeOne(contexts[subject.who], stage, subject, look, path.join(folder, name));
    }
    await Promise.all(Object.values(contexts).map((context) => context.close()));
  }
}

/** Takes the README's screenshot: the demo's VM whose mount failed, in the light theme, at twice the resolution. */
async function takeReadmeScreenshot(browser: Browser, admin: Person, file: string): Promise<void> {
  const context = await browser.newContext({
    baseURL: flags.url,
    locale: 'en',
    colorScheme: 'light',
    viewport: { width: 1280, height: 800 },
    deviceScaleFactor: 2,
    reducedMotion: 'reduce',
    storageState: await admin.cookies(),
  });
  const page = await context.newPage();
  await page.goto('/vms?q=files-1');
  const href = await page.getByRole('link', { name: 'files-1', exact: true }).getAttribute('href');
  await page.goto(href ?? '/vms');
  await settle(page, 'Live');
  await page.screenshot({ path: file });
  console.log(file);
}

if (flags.email === '' || flags.password === '') {
  console.error(usage);
  process.exitCode = 2;
} else {
  const browser = await chromium.launch(await chromiumLaunch());
  try {
    const folder = path.resolve(flags.out ?? path.join(import.meta.dirname, '../docs/images'));
    mkdirSync(folder, { recursive: true });
    const admin = await Person.signedIn(flags.url, flags.email, flags.password);
    if (flags.out === undefined) await takeReadmeScreenshot(browser, admin, path.join(folder, 'vm.png'));
    else await takeAll(browser, await setStage(flags.url, admin), folder);
  } finally {
    await browser.close();
  }
}
