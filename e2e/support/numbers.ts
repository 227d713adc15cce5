import type { Page } from '@playwright/test';
import { expect } from './test.ts';

/** A number of VMs on a page, which is a link to the list of these VMs. */
export interface CountLink {
  href: string;
  name: string;
  count: number;
}

/** The numbers of VMs on a page: those that link to the list of these VMs, and `faults` for those that do not. */
export interface Numbers {
  links: CountLink[];
  faults: string[];
}

/** Returns the numbers of VMs that the page, or a part of it, shows. */
export async function numbersOf(page: Page, within = 'main'): Promise<Numbers> {
  return page.locator(within).evaluate((root) => {
    const nameOf = (of: Element) =>
      (of.getAttribute('aria-label') ?? of.textContent ?? '').trim().replaceAll(/\s+/g, ' ');
    const isShown = (of: Element) => of.getClientRects().length > 0;
    const anchors = [...root.querySelectorAll('a')].filter(isShown);
    const links = anchors
      .filter((anchor) => anchor.dataset.count !== undefined)
      .map((anchor) => ({
        href: anchor.getAttribute('href') ?? '',
        name: nameOf(anchor),
        count: Number(anchor.dataset.count),
      }));
    const uncounted = anchors
      .filter((anchor) => anchor.dataset.count === undefined && /^\/vms(\?|$)/.test(anchor.getAttribute('href') ?? ''))
      .filter((anchor) => /\d/.test(nameOf(anchor)) && !/\d+(\.\d+){2,}/.test(nameOf(anchor)))
      .map((anchor) => `The link "${nameOf(anchor)}" shows a number, but not as data-count.`);
    // Numbers in cells and lists that are neither links nor zero. Headings count other things, such as versions.
    const loose = [...root.querySelectorAll('td, li, dd, p')]
      .filter(
        (of) => isShown(of) && of.closest('a, [data-not-vms]') === null && of.querySelector('a, time, button') === null,
      )
      .filter((of) => /^[1-9]\d{0,2}(,\d{3})*$/.test((of.textContent ?? '').trim()))
      .map((of) => `The number "${of.textContent}" in "${nameOf(of.closest('tr, ul') ?? of)}" is not a link.`);
    return { links, faults: [...uncounted, ...loose] };
  });
}

/** Returns the number of VMs in the list at this URL, according to the HTML that the portal sends. */
async function totalOf(page: Page, href: string): Promise<number> {
  const answer = await page.request.get(href);
  const html = await answer.text();
  // The HTML also contains the translations, whose placeholders are not filled in.
  expect(html, `${href} is understood`).not.toMatch(/(was|were) ignored: (?!\{\{)/);
  const [, total] = html.match(/role="status"[^>]*>([\d,]+) VMs?( match(es)?)?</) ?? [];
  if (total === undefined) throw new Error(`${href} answered ${answer.status()} without the number of VMs.`);
  return Number.parseInt(total.replaceAll(',', ''), 10);
}

/** Returns the number of VMs in each list, by URL. Requests a few lists at a time. */
async function totalsOf(page: Page, links: readonly CountLink[]): Promise<Map<string, number>> {
  const totals = new Map<string, number>();
  const left = [...new Set(links.map(({ href }) => href))].values();
  const work = async (): Promise<void> => {
    for (const href of left) totals.set(href, await totalOf(page, href));
  };
  await Promise.all([work(), work(), work()]);
  return totals;
}

/** Maximum number of times that the page is read, because VMs can change between the page and a list. */
const readings = 5;

/**
 * Compares every number that `read` finds with its list. If some numbers differ, reads them again, and fails if they
 * still differ. Returns how many numbers were compared.
 */
export async function expectExact(page: Page, what: string, read: () => Promise<Numbers>): Promise<number> {
  const first = await read();
  expect(first.faults, what).toEqual([]);
  let wrong = await wrongOf(page, first.links);
  for (let reading = 1; wrong.length > 0 && reading < readings; reading += 1) {
    const { links } = await read();
    wrong = await wrongOf(
      page,
      links.filter(({ name }) => wrong.some((before) => before.name === name)),
    );
  }
  expect(
    wrong.map(({ name, count, total, href }) => `${name}: ${count}, but ${total} at ${href}`),
    what,
  ).toEqual([]);
  return first.links.length;
}

async function wrongOf(
  page: Page,
  links: readonly CountLink[],
): Promise<(CountLink & { total: number | undefined })[]> {
  const totals = await totalsOf(page, links);
  return links.map((link) => ({ ...link, total: totals.get(link.href) })).filter(({ count, total }) => count !== total);
}
