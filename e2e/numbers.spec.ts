import { type ChildProcess, spawn } from 'node:child_process';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { Page } from '@playwright/test';
import { expectExact, type Numbers, numbersOf } from './support/numbers.ts';
import type { Portal } from './support/portal.ts';
import { expect, test } from './support/test.ts';

/* Every number of VMs on a page links to a list of exactly those VMs. `npm run test:numbers` uses 20,000 VMs. */

const vms = Number(process.env.ANNEX_NUMBERS_VMS ?? '150');
const isLarge = vms > 1_000;
/** VMs that a person creates, so that the activity has a line about several actions. */
const created = ['created-1', 'created-2', 'created-3'];
const patient = { timeout: 30_000 };

test.use({ portalGroup: 'numbers' });

/** Seeds a fleet with every health state, and reports for its VMs until the returned process ends. */
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

/** Opens a page and waits until its cards have loaded. */
async function open(page: Page, address: string): Promise<void> {
  await page.goto(address);
  await expect(page.locator('main h1')).toBeVisible(patient);
  await expect(page.locator('main [aria-busy="true"]')).toHaveCount(0, patient);
}

const read = (page: Page, address: string) => async (): Promise<Numbers> => {
  await open(page, address);
  return numbersOf(page);
};

/** The map and the problems below it. The other cards of the overview do not depend on the grouping of the map. */
const mapCard = 'section[aria-labelledby="fleet-map"]';

/**
 * Reads the numbers on the overview with a grouping: first in the element `within` with the map, then in the table that
 * replaces the map.
 */
const readOverview = (page: Page, address: string, within: string) => async (): Promise<Numbers> => {
  await open(page, address);
  await expect(page.getByRole('application', { name: /^Fleet map/ })).toBeVisible(patient);
  const asMap = await numbersOf(page, within);
  await page.getByRole('button', { name: 'Show as table' }).click();
  await expect(page.getByRole('region', { name: 'Fleet map as a table' })).toBeVisible();
  const asTable = await numbersOf(page, mapCard);
  return { links: [...asMap.links, ...asTable.links], faults: [...asMap.faults, ...asTable.faults] };
};

/** The number of VMs that the opened list shows. */
const listed = (page: Page) => page.getByRole('status').filter({ hasText: /^[\d,]+ VMs?( match(es)?)?$/ });

/** Clicks links with numbers, and compares each number with the list that opens. */
async function expectOpened(page: Page, address: string, names: readonly RegExp[]): Promise<number> {
  for (const name of names) {
    await expect(async () => {
      await open(page, address);
      const link = page.getByRole('main').locator('a[data-count]').filter({ hasText: name }).first();
      const count = Number(await link.getAttribute('data-count'));
      await link.click();
      await expect(listed(page)).toHaveText(new RegExp(`^${count.toLocaleString('en')} VMs?\\b`));
    }).toPass({ timeout: 60_000 });
  }
  return names.length;
}

/** Chooses the first value of each filter menu, and compares its number with the list. */
async function expectMenusExact(page: Page): Promise<number> {
  await open(page, '/vms');
  const menus = ['Tag', 'Health', 'Handler', 'Cause', 'Message ID', 'Update'];
  for (const menu of menus) {
    await expect(async () => {
      if (new URL(page.url()).search !== '') await open(page, '/vms');
      await page.getByRole('group', { name: 'Filters' }).getByRole('button', { name: menu, exact: true }).click();
      const dialog = page.getByRole('dialog', { name: menu, exact: true });
      const value = dialog.locator('[role="option"], label').filter({ hasText: /\d$/ }).first();
      const count = /([\d,]+)$/.exec((await value.textContent()) ?? '')?.[1] ?? '';
      await value.click();
      const apply = dialog.getByRole('button', { name: 'Apply' });
      if (await apply.isVisible()) await apply.click();
      await expect(listed(page)).toHaveText(new RegExp(`^${count} VMs? match`));
    }).toPass({ timeout: 60_000 });
    await page.getByRole('button', { name: /^Remove the filter/ }).click();
    await expect(page).toHaveURL('/vms');
  }
  return menus.length;
}

/** Compares the number of problems in the navigation, and each problem's number, with what the page shows. */
async function expectProblemsExact(page: Page): Promise<number> {
  let compared = 0;
  await expect(async () => {
    compared = 0;
    await open(page, '/attention');
    const problems = page.getByRole('region', { name: 'Problems' }).locator('li:has(> div h2)');
    const count = await problems.count();
    const name = new RegExp(`^Needs attention ${count} problems?$`);
    await expect(page.getByRole('link', { name })).toBeVisible({ timeout: 2_000 });
    compared += 1;
    for (let place = 0; place < count; place += 1) {
      const problem = problems.nth(place);
      const total = Number(await problem.locator('a[data-count]').first().getAttribute('data-count'));
      // The VMs of a large problem are loaded in parts.
      if (total > 50) continue;
      await problem.getByRole('button', { expanded: false }).first().click();
      await expect(problem.locator('[data-triage-row]:not([data-triage-row="true"])')).toHaveCount(total);
      compared += 1;
    }
  }).toPass({ timeout: 120_000 });
  return compared;
}

/** Opens the line about the created VMs, which shows each action. */
async function expectFoldExact(page: Page): Promise<number> {
  await open(page, '/activity?kind=people');
  const fold = page.getByRole('listitem').filter({ hasText: `created ${created.length} VMs` });
  await fold.getByRole('button', { expanded: false }).click();
  await expect(fold.getByRole('listitem')).toHaveCount(created.length);
  return 1;
}

/** Returns the addresses of links, without duplicates. */
async function addressesOf(page: Page, selector: string): Promise<string[]> {
  const all = await page
    .locator(selector)
    .evaluateAll((links) => links.map((link) => link.getAttribute('href') ?? '').filter((href) => href !== ''));
  return [...new Set(all)];
}

test('every number that counts VMs opens a list of exactly these VMs', { tag: '@long' }, async ({
  portal,
  api,
  signedIn,
}) => {
  test.setTimeout(isLarge ? 1_800_000 : 300_000);
  const fleet = await seed(portal);
  let compared = 0;
  const compare = async (title: string, work: () => Promise<number>): Promise<void> => {
    const began = performance.now();
    const count = await test.step(title, work);
    compared += count;
    const seconds = ((performance.now() - began) / 1000).toFixed(1);
    process.stdout.write(`numbers: ${title}: ${count} are those of their lists (${seconds} s)\n`);
  };
  try {
    for (const name of created) await api.createVm(name);
    const page = await signedIn('viewer');
    const total = (vms + created.length).toLocaleString('en');
    await page.goto('/');
    await expect(page.getByRole('main')).toContainText(`${total} VMs`, patient);
    const groupings = await page
      .getByRole('combobox', { name: 'Group by', includeHidden: true })
      .locator('option')
      .evaluateAll((options) => options.map((option) => (option as HTMLOptionElement).value));
    expect(groupings).toEqual(expect.arrayContaining(['handler', 'none']));
    // The short run skips pages that differ only in a tag, a handler or a version.
    const shown = groupings.filter((by, place) => isLarge || place === 0 || by === 'handler');
    for (const [place, by] of shown.entries()) {
      const address = `/?by=${by}`;
      const within = place === 0 ? 'main' : mapCard;
      await compare(`overview by ${by}`, () => expectExact(page, address, readOverview(page, address, within)));
    }
    await compare('overview, opened', () => expectOpened(page, '/', [/^Failed/, /^Unresponsive/, /VMs?$/]));
    await compare('VMs', () => expectExact(page, '/vms', read(page, '/vms')));
    await compare('menus of filters', () => expectMenusExact(page));
    await compare('handlers', () => expectExact(page, '/handlers', read(page, '/handlers')));
    const handlers = await addressesOf(page, 'main td a[href^="/handlers/"]');
    expect(handlers.length).toBeGreaterThan(2);
    for (const address of isLarge ? handlers : handlers.slice(0, 1)) {
      await compare(address, () => expectExact(page, address, read(page, address)));
      const versions = await addressesOf(page, `main td a[href^="${address}/"]`);
      expect(versions.length).toBeGreaterThan(1);
      for (const version of isLarge ? versions : versions.slice(0, 1)) {
        await compare(version, () => expectExact(page, version, read(page, version)));
      }
    }
    await compare('attention', () => expectExact(page, '/attention', read(page, '/attention')));
    await compare('attention, opened', () => expectProblemsExact(page));
    await compare('activity', () => expectExact(page, '/activity', read(page, '/activity')));
    await compare('activity, opened', () => expectFoldExact(page));
    process.stdout.write(`numbers: ${compared} compared in a fleet of ${total} VMs, 0 differ\n`);
    expect(compared).toBeGreaterThan(isLarge ? 150 : 100);
  } finally {
    fleet.kill('SIGTERM');
  }
});
