import { type ChildProcess, spawn } from 'node:child_process';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { Page } from '@playwright/test';
import type { Portal } from './support/portal.ts';
import { expect, test } from './support/test.ts';

/* Every number that counts VMs opens a list with as many VMs. `npm run test:numbers` uses 20,000 VMs. */

const vms = Number(process.env.ANNEX_NUMBERS_VMS ?? '300');
const isLarge = vms > 1_000;

test.use({ portalGroup: 'numbers' });

interface CountLink {
  href: string;
  name: string;
  count: number;
}

/** Seeds a fleet of all healths, and reports for its VMs until the returned process ends. */
async function seed(portal: Portal): Promise<ChildProcess> {
  const root = path.resolve(import.meta.dirname, '..');
  const child = spawn('node', ['scripts/seed.ts', '--vms', String(vms), '--keep-alive'], {
    cwd: root,
    env: { ...process.env, DATA_DIR: portal.dataDir, ANNEX_URL: portal.url },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output: string[] = [];
  child.stderr.on('data', (chunk) => output.push(String(chunk)));
  for await (const line of createInterface({ input: child.stdout })) {
    output.push(line);
    if (line.includes('reporting for the VMs')) return child;
  }
  throw new Error(`The fleet was not seeded:\n${output.join('\n')}`);
}

/** Returns the links that count VMs, and what breaks the rule that every such number is one of them. */
async function numbersOf(page: Page): Promise<{ links: CountLink[]; faults: string[] }> {
  return page.locator('main').evaluate((main) => {
    const nameOf = (of: Element) =>
      (of.getAttribute('aria-label') ?? of.textContent ?? '').trim().replaceAll(/\s+/g, ' ');
    const isShown = (of: Element) => of.getClientRects().length > 0;
    const anchors = [...main.querySelectorAll('a')].filter(isShown);
    const links = anchors
      .filter((anchor) => anchor.dataset.count !== undefined)
      .map((anchor) => ({
        href: anchor.getAttribute('href') ?? '',
        name: nameOf(anchor),
        count: Number(anchor.dataset.count),
      }));
    const uncounted = anchors
      .filter((anchor) => anchor.dataset.count === undefined && /^\/vms(\?|$)/.test(anchor.getAttribute('href') ?? ''))
      .filter((anchor) => /\d/.test(nameOf(anchor)) && !/\d\s?%/.test(nameOf(anchor)))
      .map((anchor) => `The link "${nameOf(anchor)}" shows a number, but not as data-count.`);
    // A number in a cell or a list that is neither a link nor zero. Headings count other things, such as versions.
    const loose = [...main.querySelectorAll('td, li, dd, p')]
      .filter(
        (of) => isShown(of) && of.closest('a, [data-not-vms]') === null && of.querySelector('a, time, button') === null,
      )
      .filter((of) => /^[1-9]\d{0,2}(,\d{3})*$/.test((of.textContent ?? '').trim()))
      .map((of) => `The number "${of.textContent}" in "${nameOf(of.closest('tr, ul') ?? of)}" is not a link.`);
    return { links, faults: [...uncounted, ...loose] };
  });
}

/** Returns the number of VMs that the list shows under this address. */
async function totalOf(page: Page, href: string): Promise<number> {
  await page.goto(href);
  const status = page.getByRole('status').filter({ hasText: /^[\d,]+ VMs?( match(es)?)?$/ });
  const empty = page.getByText('No VMs match');
  await expect(status.or(empty).first()).toBeVisible();
  await expect(page.getByText('was ignored')).toHaveCount(0);
  if (await empty.isVisible()) return 0;
  return Number.parseInt(((await status.textContent()) ?? '').replaceAll(',', ''), 10);
}

/** Compares every number of a page with its list. Reads the page again, because health can change in between. */
async function expectExact(page: Page, list: Page, address: string, prepare?: () => Promise<void>): Promise<number> {
  const open = async () => {
    await page.goto(address);
    await expect(page.locator('[data-count]').first()).toBeVisible();
    await prepare?.();
    return numbersOf(page);
  };
  let { links, faults } = await open();
  expect(faults, address).toEqual([]);
  for (let attempt = 0; ; attempt += 1) {
    const wrong: string[] = [];
    for (const { href, name, count } of links) {
      const total = await totalOf(list, href);
      if (total !== count) wrong.push(`${name}: ${count}, but ${total} at ${href}`);
    }
    if (wrong.length === 0) return links.length;
    if (attempt === 3) expect(wrong, address).toEqual([]);
    const names = wrong.map((line) => line.slice(0, line.lastIndexOf(': ')));
    links = (await open()).links.filter(({ name }) => names.includes(name));
  }
}

test('every number that counts VMs opens a list of exactly these VMs', async ({ portal, signedIn }) => {
  test.setTimeout(isLarge ? 1_800_000 : 480_000);
  const fleet = await seed(portal);
  try {
    const page = await signedIn('viewer');
    const list = await signedIn('viewer');
    await page.goto('/');
    await expect(page.locator('main')).toContainText(new RegExp(`${vms.toLocaleString('en')} VMs`));
    let compared = 0;
    for (const address of ['/', '/?by=handler', '/?by=none']) {
      compared += await expectExact(page, list, address);
      compared += await expectExact(page, list, address, async () => {
        await page.getByRole('button', { name: 'Show as table' }).click();
        await expect(page.getByRole('region', { name: 'Fleet map as a table' })).toBeVisible();
      });
    }
    compared += await expectExact(page, list, '/vms');
    compared += await expectExact(page, list, '/handlers');
    const handlers = await page
      .locator('main td a[href^="/handlers/"]')
      .evaluateAll((links) => links.map((link) => link.getAttribute('href') ?? ''));
    expect(handlers.length).toBeGreaterThan(1);
    for (const address of handlers) compared += await expectExact(page, list, address);
    test.info().annotations.push({ type: 'numbers', description: String(compared) });
    expect(compared).toBeGreaterThan(60);
  } finally {
    fleet.kill('SIGTERM');
  }
});
